import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a gateway is believed about records',
  patches: [
    {
      file: 'src/partner/client/read-answer.ts',
      find: " && code !== 'UNEXPECTED_ANSWER'",
      replace: '',
    },
  ],
  caughtBy: tests(/a server in between answers/, 'test/streams/read-by-ids.test.ts'),
};
