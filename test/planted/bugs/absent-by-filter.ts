import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'absence concluded from the filter',
  patches: [
    {
      file: 'activities/presence/read-presence.ts',
      find: '  const listed = await repeated(() => findInLists(connection, jobId, stages, missing)).catch(ofConnector);\n',
      replace: `  const { tenant, keyFingerprint } = connection;
  const filter = await readStageFilter(store, tenant.tenant, keyFingerprint, FILTER_PROVEN_FOR_MS);
  const listed =
    filter?.proven === true
      ? { unreadable: undefined, listed: 0, unshown: 0 }
      : await repeated(() => findInLists(connection, jobId, stages, missing)).catch(ofConnector);
`,
    },
  ],
  caughtBy: tests(
    /whoever the filter does not show is looked for in the whole list/,
    'test/activities/presence/read-presence.test.ts',
  ),
};
