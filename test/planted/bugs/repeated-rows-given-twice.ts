import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'repeated rows given twice',
  patches: [
    {
      file: 'src/partner/client/pages.ts',
      find: '    const isNew = !reading.ids.has(id);\n',
      replace: '    const isNew = !reading.ids.has(id) || id !== "";\n',
    },
  ],
  caughtBy: tests(/gives nobody twice when it grows in front/, 'test/partner/client/lists.test.ts'),
};
