import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'the Temporal CLI is run whatever was downloaded',
  patches: [
    {
      file: 'src/temporal/dev-server/resolve-cli.ts',
      find: '    if (found !== pinned) throw',
      replace: "    if (found === '') throw",
    },
  ],
  caughtBy: tests(/FAIL .*runs nothing of an archive that is not the pinned one/, 'test/temporal/resolve-cli.test.ts'),
};
