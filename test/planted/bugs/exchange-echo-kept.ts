import { convergence, type PlantedBug } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'echo kept',
  patches: [
    {
      file: 'src/exchange/see-fields.ts',
      find: "if (partner.form === hris.form) return { verdict: 'agreed' };",
      replace: '',
    },
  ],
  caughtBy: convergence(/a run over records that nobody edited wrote/),
};
