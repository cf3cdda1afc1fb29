import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'two workers send the same invitation',
  patches: [
    {
      file: 'src/store/invitations.ts',
      find: 'in_doubt: 0 })\n              .onConflict((c) => c.doNothing())',
      replace:
        "in_doubt: 0 })\n              .onConflict((c) => c.columns(['tenant_id', 'assessment_id', 'candidate_id']).doUpdateSet(now))",
    },
  ],
  caughtBy: tests(/of two workers that decided to invite the same person, one sends/, 'test/store/invitations.test.ts'),
};
