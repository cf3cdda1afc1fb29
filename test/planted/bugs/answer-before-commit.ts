import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: '200 before commit',
  patches: [
    {
      file: 'src/receiver/receiver.ts',
      find: '    const { fresh } = await gate.commit(delivery);\n',
      replace: '    const fresh = true;\n    void gate.commit(delivery).catch(() => undefined);\n',
    },
  ],
  caughtBy: tests(/failed/, 'test/receiver'),
};
