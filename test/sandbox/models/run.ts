/** Every model 1,000 times: `npm run test:models [-- --runs N] [--seed N] [--only NAME]`. */
import { parseArgs } from 'node:util';
import { bookingLinks } from './booking-links.ts';
import { customFieldValues } from './custom-field-values.ts';
import { jobCandidates } from './job-candidates.ts';
import { checkFamily, type RunOptions, type RunResult } from './model-run.ts';
import { onboarding } from './onboarding.ts';
import { pipelines } from './pipelines.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    only: { type: 'string' },
  },
});
const options: RunOptions = { runs: Number(values.runs), seed: Number(values.seed) };
const families: Record<string, () => RunResult> = {
  pipelines: () => checkFamily(pipelines, options),
  'job-candidates': () => checkFamily(jobCandidates, options),
  'custom-field-values': () => checkFamily(customFieldValues, options),
  'booking-links': () => checkFamily(bookingLinks, options),
  onboarding: () => checkFamily(onboarding, options),
};

for (const [name, check] of Object.entries(families)) {
  if (values.only !== undefined && values.only !== name) continue;
  const began = performance.now();
  const told = (result: string): void =>
    console.log(`${name.padEnd(20)} ${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${result}`);
  try {
    const { runs, steps } = check();
    told(`${runs} runs, ${steps} steps, sandbox and model agree (seed ${options.seed})`);
  } catch (error) {
    process.exitCode = 1;
    told(`differs: ${(error as Error).message}`);
    console.log(`again: npm run test:models -- --only ${name} --seed ${options.seed} --runs ${options.runs}`);
  }
}
