import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a formula behind a blank is none',
  patches: [
    {
      file: 'src/hris/sftp/ready-files.ts',
      find: '  if (RUNS.some((one) => one.test(seen(text))))',
      replace: '  if (RUNS.some((one) => one.test(text)))',
    },
  ],
  caughtBy: tests(/FAIL .*would run in a spreadsheet, and is refused/, 'test/hris/sftp-hand-over.test.ts'),
};
