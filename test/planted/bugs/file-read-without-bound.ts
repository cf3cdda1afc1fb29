import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a file is read however long it claims to be',
  patches: [
    {
      file: 'src/hris/sftp/ready-files.ts',
      find: '    if (size > MOST_BYTES) throw tooLong(path);\n    const bytes',
      replace: '    const bytes',
    },
  ],
  caughtBy: tests(/FAIL .*a file that claims to be too long is refused/, 'test/hris/sftp-bounds.test.ts'),
};
