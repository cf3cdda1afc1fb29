import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'absence concluded from the filter',
  patches: [
    {
      file: 'activities/presence/read-presence.ts',
      find: `  const { missing, failed, unreadable, ...listed } = await findInLists(connection, jobId, stages, new Set(rest));
`,
      replace: `  const { tenant, keyFingerprint } = connection;
  const filter = await readStageFilter(store, tenant.tenant, keyFingerprint, FILTER_PROVEN_FOR_MS);
  const { missing, failed, unreadable, ...listed } =
    filter?.proven === true
      ? { missing: new Set(rest), failed: undefined, unreadable: undefined, listed: 0, unshown: 0 }
      : await findInLists(connection, jobId, stages, new Set(rest));
`,
    },
  ],
  caughtBy: tests(
    /whoever the filter does not show is looked for in the whole list/,
    'test/activities/presence/read-presence.test.ts',
  ),
};
