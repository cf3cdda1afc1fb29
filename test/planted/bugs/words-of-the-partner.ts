import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'errors repeat the words of the partner',
  patches: [
    {
      file: 'src/partner/client/read-answer.ts',
      find: "    hint: hints[code ?? ''] ?? (answer.status === 400 ? otherNames(endpoint, code, fields) : undefined),",
      replace: '    hint: refused.message ?? undefined,',
    },
  ],
  caughtBy: tests(/FAIL .*nothing of the partner's own words/, 'test/partner/client/errors.test.ts'),
};
