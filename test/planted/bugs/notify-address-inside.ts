import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a notify address inside the network is called',
  patches: [
    {
      file: 'src/worker/outgoing.ts',
      find: 'if (!allowPrivate) assertPublicAddress(new URL(address));',
      replace: '',
    },
    {
      file: 'src/worker/outgoing.ts',
      find: 'dispatcher: allowPrivate ? inside : outside',
      replace: 'dispatcher: inside',
    },
  ],
  caughtBy: tests(/FAIL .*a notify address inside the network is not called/, 'test/worker/chores.test.ts'),
};
