import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'claim taken from whoever holds it',
  patches: [
    {
      file: 'src/store/identity.ts',
      find: '    .where((eb) => eb.and(hireColumns(from)))\n',
      replace: '',
    },
  ],
  caughtBy: tests(/or handed over by whoever has it/, 'test/store/hire-facts.test.ts'),
};
