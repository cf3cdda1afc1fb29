import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'the keyring of a killed process stays',
  patches: [
    {
      file: 'src/hris/sftp/ready-files.ts',
      find: `  await sweepKeyrings();
`,
      replace: '',
    },
  ],
  caughtBy: tests(/FAIL .*a private key that a killed process left on the disk/, 'test/hris/killed-keyring.test.ts'),
};
