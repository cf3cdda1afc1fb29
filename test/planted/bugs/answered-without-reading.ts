import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'hold answered without re-reading',
  patches: [
    {
      file: 'activities/hire/plan-employee.ts',
      find: '  const read = await readSources(hire, { anyStage, seen });\n',
      replace: `  const name = JSON.stringify([(await hire.store.kysely.selectFrom('hires').select('opened_at').where('job_candidate_id', '=', hire.ref.jobCandidateId).executeTakeFirst())?.opened_at, hire.ref]);
  const read = readBefore.get(name) ?? (await readSources(hire, { anyStage, seen }));
  readBefore.set(name, read);
`,
    },
    {
      file: 'activities/hire/plan-employee.ts',
      find: '/** A saved plan and what',
      replace:
        'const readBefore = new Map<string, Awaited<ReturnType<typeof readSources>>>();\n\n/** A saved plan and what',
    },
  ],
  // What was read before an answer may as well never let the hire go on.
  caughtBy: simulation(/was made an employee with an old name|stays employ and asks nobody/, 1_000),
};
