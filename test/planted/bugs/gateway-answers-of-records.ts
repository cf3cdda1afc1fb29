import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a gateway is believed about records',
  patches: [
    {
      file: 'src/streams/read-page.ts',
      find: "if (error.code === 'UNEXPECTED_ANSWER') throw error;",
      replace: '',
    },
  ],
  caughtBy: tests(/a server in between answers/, 'test/streams/read-by-ids.test.ts'),
};
