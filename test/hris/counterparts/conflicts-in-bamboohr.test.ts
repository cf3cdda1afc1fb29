import { onTestFinished, test, vi } from 'vitest';
import { API_KEY, REFERENCE_FIELD, startBambooDouble } from '../../../src/counterparts/bamboohr-double.ts';
import { expectNoWrongMerge, LONG_MS } from '../expect-no-wrong-merge.ts';

test(
  'bamboohr: of 1,000 conflicts of identity none is merged wrongly, none made twice; the rest is held with a reason',
  () => expectNoWrongMerge('bamboohr', openDouble),
  LONG_MS,
);

async function openDouble(): Promise<string> {
  const double = await startBambooDouble();
  onTestFinished(() => double.close());
  vi.stubEnv('TEST_BAMBOOHR_KEY', API_KEY);
  const where = `kind: bamboohr, connection: hr, url: "${double.url}", apiKey: "env:TEST_BAMBOOHR_KEY"`;
  const statuses = 'employment: { active: Full-Time, ended: Terminated }';
  return `${where}, referenceField: ${REFERENCE_FIELD}, readLag: 0ms, allowPrivateAddress: true, ${statuses}`;
}
