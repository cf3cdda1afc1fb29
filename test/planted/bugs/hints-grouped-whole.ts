import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'the oldest hints are found by reading all of them',
  patches: [
    {
      file: 'src/store/hints.ts',
      find: `    select tenant_id, stream, (select min(hinted_at) from hints
      where hints.tenant_id = streams.tenant_id and hints.stream = streams.stream) as hinted_at
    from streams where stream is not null\``,
      replace: '    select tenant_id, stream, min(hinted_at) as hinted_at from hints group by tenant_id, stream`',
    },
  ],
  caughtBy: tests(/FAIL .*the oldest hint of each stream is found/, 'test/store/size.test.ts'),
};
