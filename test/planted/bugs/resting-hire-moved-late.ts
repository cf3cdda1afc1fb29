import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'stalled worker ends a hire opened again',
  patches: [
    {
      file: 'src/store/hire-states.ts',
      find: "      .where('state', '=', seen.state)\n      .where('updated_at', '=', seen.updated_at)\n",
      replace: '',
    },
  ],
  caughtBy: tests(
    /a worker that stood still changes nothing of a hire that was opened again/,
    'test/store/hire-facts.test.ts',
  ),
};
