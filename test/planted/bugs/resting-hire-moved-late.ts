import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'stalled worker ends a hire opened again',
  patches: [
    {
      file: 'src/store/hire-states.ts',
      find: '.where(has({ ...hireColumns(hireOf(seen)), state: seen.state, updated_at: seen.updated_at }))',
      replace: '.where(has(hireColumns(hireOf(seen))))',
    },
  ],
  caughtBy: tests(
    /a worker that stood still changes nothing of a hire that was opened again/,
    'test/store/hire-facts.test.ts',
  ),
};
