import { type PlantedBug, tests } from '../planted-bug.ts';

const FILE = 'src/partner/client/pages.ts';

export const bug: PlantedBug = {
  name: 'total believed more than an empty page',
  patches: [
    {
      file: FILE,
      find: 'if (raw.length === 0 && (body === undefined || page > paging.firstPage))',
      replace: 'if (!body)',
    },
    { file: FILE, find: '    if (raw.length === 0) break;\n    if (!isLast(', replace: '    if (!isLast(' },
    { file: FILE, find: '  if (raw.length === 0) return undefined;\n', replace: '' },
  ],
  caughtBy: tests(/is an empty page when records vanish while we read/, 'test/partner/client/lists.test.ts'),
};
