import type { Command } from 'commander';
import { ConnectorError } from '../errors.ts';
import { audit } from '../store/audit.ts';
import { type Rollout, readRollout, routeTo } from '../temporal/rollout.ts';
import { asOption, byOf, example, integer, placesOf, say } from './command.ts';
import { withClient } from './open.ts';

export function defineRollout(command: Command): void {
  command
    .description(
      'Send the work to the workers of one build, all of it or a share; without a build, show the builds there ' +
        'are. Workers report their build through HIREBRIDGE_BUILD_ID.',
    )
    .argument('[build]', 'build that new work and workflows under way go to')
    .option('--percent <n>', 'only this share of the workflows, 0 to 100', integer(0, 100))
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nGo back the same way, by naming the previous build.\n' +
        example('hirebridge rollout', 'hirebridge rollout 0.2.0 --percent 10', 'hirebridge rollout 0.2.0'),
    )
    .action(runRollout);
  asOption(command);
}

async function runRollout(
  build: string | undefined,
  { percent, json = false, ...who }: { percent?: number; json?: boolean; as?: string },
  command: Command,
): Promise<void> {
  if (build === undefined && percent !== undefined)
    throw new ConnectorError({
      code: 'ROLLOUT_WITHOUT_BUILD',
      action: 'reject',
      message:
        '--percent needs a build: hirebridge rollout BUILD --percent 10. Without a build, the command lists the ' +
        'builds.',
    });
  const rollout = await withClient(await placesOf(command), async ({ store, hires }) => {
    if (build === undefined) return readRollout(hires);
    const routed = await routeTo(hires, { build, percent });
    const details = percent === undefined ? build : `${build}, ${percent} %`;
    await audit(store, { by: byOf(who), act: 'rolled-out', details });
    return routed;
  });
  say({ json }, rollout, told(rollout));
}

function told({ deployment, current, ramping, builds }: Rollout): string {
  const all = current === undefined ? 'Workers without a build id take the work' : `Work goes to the build ${current}`;
  const some = ramping === undefined ? '' : `, ${ramping.percent} % of it to ${ramping.build}`;
  const lines = builds.map(({ build, state }) => `  ${build}  ${state}\n`);
  return `${all}${some}. Builds of ${deployment}, the newest first:\n${lines.join('')}`;
}
