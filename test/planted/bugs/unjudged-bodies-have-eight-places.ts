import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'forged bodies take the places of signed ones',
  patches: [
    {
      file: 'src/receiver/admit.ts',
      find: `  const place = enterUnjudged(request, unjudged, tenantId);
`,
      replace: `  if (underWay >= 8) throw refusal('WEBHOOKS_BUSY');
  underWay += 1;
  const place = enterUnjudged(request, unjudged, tenantId);
`,
    },
    {
      file: 'src/receiver/admit.ts',
      find: '  const body = await readBody(request, limits, { place, isVerified: false });',
      replace: `  const body = await readBody(request, limits, { place, isVerified: false }).finally(() => {
    underWay -= 1;
  });`,
    },
    {
      file: 'src/receiver/admit.ts',
      find: "/** Where webhooks of a tenant's HRIS arrive. */",
      replace: `let underWay = 0;

/** Where webhooks of a tenant's HRIS arrive. */`,
    },
  ],
  caughtBy: tests(
    /FAIL .*sockets with unsigned or forged bodies take no place/,
    'test/receiver/hostile-senders.test.ts',
  ),
};
