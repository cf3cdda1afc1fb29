import { convergence, type PlantedBug } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'older observation wins',
  patches: [
    {
      file: 'src/store/exchange-pairs.ts',
      find: "      .where('version', '=', version)\n",
      replace: '',
    },
    {
      file: 'activities/exchange/read-pairs.ts',
      find: 'if (readAt <= known.state.settles_at)',
      replace: 'if (readAt <= 0)',
    },
  ],
  caughtBy: convergence(/is no last edit|differs|nobody edited/),
};
