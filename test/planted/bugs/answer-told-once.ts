import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'answer never told again',
  patches: [
    {
      file: 'activities/hear-answer.ts',
      find: '    const unheard = await unheardAnswers(store, UNHEARD_MS);',
      replace: '    const unheard = await unheardAnswers(store, 1_000 * MOST_WAIT_MS);',
    },
  ],
  caughtBy: tests(/that no hire heard is told again/, 'test/operator/holds/answer-hold.test.ts'),
};
