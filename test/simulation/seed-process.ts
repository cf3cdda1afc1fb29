/**
 * One process that plays seeds: takes over its own clock and chance, and replaces Temporal's workflow library by a
 * double.
 */
import { registerHooks } from 'node:module';

const double = new URL('./workflow-double.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@temporalio/workflow' ? { url: double, shortCircuit: true } : next(specifier, context),
});

if (process.argv[2] === 'month') {
  const { playMonth } = await import('./month.ts');
  await playMonth(process.argv.slice(3));
} else {
  const { playSeeds } = await import('./play-seeds.ts');
  await playSeeds(process.argv.slice(2));
}
