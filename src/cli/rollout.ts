import type { Command } from 'commander';
import { type ConnectorError, rejected } from '../errors.ts';
import { audit } from '../store/audit.ts';
import { grpcCode } from '../temporal/connection.ts';
import type { HireClient } from '../temporal/hire-client.ts';
import { AS, byOf, example, type Flags, integer, placesOf, say } from './command.ts';
import { withClient } from './open.ts';

export const commands = { rollout: defineRollout };

function defineRollout(command: Command): void {
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
    .action(runRollout)
    .option(...AS);
}

async function runRollout(
  build: string | undefined,
  { percent, json = false, ...who }: Flags & { percent?: number },
  command: Command,
): Promise<void> {
  if (build === undefined && percent !== undefined)
    throw rejected(
      'ROLLOUT_WITHOUT_BUILD',
      '--percent needs a build: hirebridge rollout BUILD --percent 10. Without a build, the command lists the builds.',
    );
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

/** The versions of this installation's workers in Temporal (docs.temporal.io/worker-versioning). */
export interface Rollout {
  /** Temporal's Worker Deployment: one for each installation. */
  deployment: string;
  /** The build that gets new work; undefined while workers without a build id take everything. */
  current?: string;
  /** A build that gets a share of the work. */
  ramping?: { build: string; percent: number };
  /** Every build that polled, newest first. `drained`: no workflow needs it any more. */
  builds: { build: string; state: BuildState }[];
}

type BuildState = 'current' | 'ramping' | 'waiting' | 'draining' | 'drained';

/** By the server's `WorkerDeploymentVersionStatus`. */
const STATES: readonly BuildState[] = ['waiting', 'waiting', 'current', 'ramping', 'draining', 'drained'];

/** @throws ConnectorError NO_WORKER_VERSIONS if no worker ever reported a build */
async function readRollout({ client, installationId: deploymentName }: HireClient): Promise<Rollout> {
  const { namespace } = client.options;
  const answer = await client.workflowService
    .describeWorkerDeployment({ namespace, deploymentName })
    .catch((error: unknown) => {
      throw grpcCode(error) === 'NOT_FOUND' ? noVersions(error) : error;
    });
  const { routingConfig: routing, versionSummaries } = answer.workerDeploymentInfo ?? {};
  const builds = (versionSummaries ?? [])
    .toSorted((one, other) => Number(other.createTime?.seconds ?? 0) - Number(one.createTime?.seconds ?? 0))
    .map(({ deploymentVersion, status }) => ({
      build: deploymentVersion?.buildId ?? '',
      state: STATES[status ?? 0] ?? 'waiting',
    }));
  const current = routing?.currentDeploymentVersion?.buildId;
  const ramping = routing?.rampingDeploymentVersion?.buildId;
  return {
    deployment: deploymentName,
    ...(current && { current }),
    ...(ramping && { ramping: { build: ramping, percent: routing?.rampingVersionPercentage ?? 0 } }),
    builds,
  };
}

/**
 * Sends all work to a build, or the share `percent` of it. Workflows under way move with their next task.
 * @throws ConnectorError NO_WORKER_VERSIONS, WORKER_VERSION_UNKNOWN
 */
async function routeTo(
  hires: HireClient,
  { build: buildId, percent }: { build: string; percent?: number | undefined },
): Promise<Rollout> {
  const { client, installationId: deploymentName } = hires;
  const { builds, current, ramping } = await readRollout(hires);
  if (!builds.some(({ build }) => build === buildId)) throw unknownBuild(buildId, builds);
  const { namespace, identity } = client.options;
  const deployment = { namespace, identity, deploymentName };
  const { workflowService } = client;
  if (percent !== undefined) {
    await workflowService.setWorkerDeploymentRampingVersion({ ...deployment, buildId, percentage: percent });
    return readRollout(hires);
  }
  // If it is current already, skip this: the server would mark the build as draining.
  if (current !== buildId) await workflowService.setWorkerDeploymentCurrentVersion({ ...deployment, buildId });
  // Otherwise another build would keep its share.
  if (ramping !== undefined && ramping.build !== buildId)
    await workflowService.setWorkerDeploymentRampingVersion({ ...deployment, buildId: '', percentage: 0 });
  return readRollout(hires);
}

function noVersions(cause: unknown): ConnectorError {
  return rejected(
    'NO_WORKER_VERSIONS',
    'No worker of this installation has reported a build yet, so all of them take any work. Start workers with ' +
      'HIREBRIDGE_BUILD_ID to roll versions out (docs/deploy.md).',
    { cause },
  );
}

function unknownBuild(build: string, builds: Rollout['builds']): ConnectorError {
  const known = builds.map((one) => one.build).join(', ') || 'none';
  return rejected(
    'WORKER_VERSION_UNKNOWN',
    `No worker with the build ${build} has asked for work yet; known builds: ${known}. ` +
      `Start one with HIREBRIDGE_BUILD_ID=${build} first, or correct the name.`,
  );
}
