import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'two workers send the same invitation',
  patches: [
    {
      file: 'src/store/send-once.ts',
      find: '.onConflict((c) => c.doNothing())',
      replace: '.onConflict((c) => c.columns(Object.keys(key) as never).doUpdateSet(row))',
    },
  ],
  caughtBy: tests(/of two workers that decided to invite the same person, one sends/, 'test/store/invitations.test.ts'),
};
