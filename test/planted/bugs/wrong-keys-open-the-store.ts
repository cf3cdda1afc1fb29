import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'each refused delivery opens the store again',
  patches: [
    {
      file: 'src/receiver/receiver.ts',
      find: '  const { onStored, onRefused } = options;',
      replace: '  const { onStored } = options;\n  const onRefused = (): void => void openStore();',
    },
  ],
  caughtBy: tests(/FAIL .*a wrong key is refused before the body is looked at/, 'test/receiver/receiver.test.ts'),
};
