import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'deliveries that ask for no hire are relayed one by one',
  patches: [
    {
      file: 'src/worker/relay.ts',
      find: 'if (others.length > 0) underWay.begin(tenantId, () => relayTogether(batch, others));',
      replace: 'for (const one of others) underWay.begin(tenantId, () => relayTogether(batch, [one]));',
    },
  ],
  caughtBy: tests(/FAIL .*are relayed in a few statements/, 'test/worker/relay-together.test.ts'),
};
