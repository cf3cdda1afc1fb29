import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'older observation wins',
  patches: [
    { file: 'src/store/exchange-pairs.ts', find: 'pair_id: pairId, version }))', replace: 'pair_id: pairId }))' },
    {
      file: 'activities/exchange/read-pairs.ts',
      find: 'readAt <= known.state.settles_at',
      replace: 'readAt <= 0',
    },
  ],
  caughtBy: tests(
    /FAIL .*overwrites nothing that another one of its run wrote/,
    'test/activities/exchange-pairs.test.ts',
  ),
};
