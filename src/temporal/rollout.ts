import { ConnectorError } from '../errors.ts';
import { grpcCode } from './grpc-error.ts';
import type { HireClient } from './hire-client.ts';

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

export type BuildState = 'current' | 'ramping' | 'waiting' | 'draining' | 'drained';

/** By the server's `WorkerDeploymentVersionStatus`. */
const STATES: readonly BuildState[] = ['waiting', 'waiting', 'current', 'ramping', 'draining', 'drained'];

/** @throws ConnectorError NO_WORKER_VERSIONS if no worker ever reported a build */
export async function readRollout({ client, installationId: deploymentName }: HireClient): Promise<Rollout> {
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
export async function routeTo(
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
  return new ConnectorError({
    code: 'NO_WORKER_VERSIONS',
    action: 'reject',
    message:
      'No worker of this installation has reported a build yet, so all of them take any work. Start workers with ' +
      'HIREBRIDGE_BUILD_ID to roll versions out (docs/deploy.md).',
    cause,
  });
}

function unknownBuild(build: string, builds: Rollout['builds']): ConnectorError {
  const known = builds.map((one) => one.build).join(', ') || 'none';
  return new ConnectorError({
    code: 'WORKER_VERSION_UNKNOWN',
    action: 'reject',
    message:
      `No worker with the build ${build} has asked for work yet; known builds: ${known}. ` +
      `Start one with HIREBRIDGE_BUILD_ID=${build} first, or correct the name.`,
  });
}
