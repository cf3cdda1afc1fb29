import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'hold opened by each process',
  patches: [
    {
      file: 'src/store/migrations/0001-tables.ts',
      find: 'create unique index holds_once_open',
      replace: 'create index holds_once_open',
    },
  ],
  caughtBy: tests(/four processes that open one hold at once open one/, 'test/store/hire-facts.test.ts'),
};
