import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'hire opened again hears what was answered before',
  patches: [
    {
      file: 'src/store/hire-states.ts',
      find: "step: 'enrol' as const, opened_at: store.now, ended_at: null",
      replace: "step: 'enrol' as const, ended_at: null",
    },
  ],
  caughtBy: tests(
    /FAIL .*a hire that was opened again after a cancel hears nothing of it/,
    'test/store/answers-of-hire.test.ts',
  ),
};
