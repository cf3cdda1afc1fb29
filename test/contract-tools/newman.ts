import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Judged, run, type ToolInput } from './tool.ts';

const VERSION = '6.2.2';

interface Report {
  run: {
    stats: Record<'requests' | 'assertions', { total: number; failed: number }>;
    executions: { item: { name: string }; response?: { code: number } }[];
  };
}

/**
 * The whole collection in its own order; every request that is not a success is named, though the collection allows it.
 */
export async function runNewman({ folder }: ToolInput): Promise<Judged> {
  const report = join(folder, 'newman.json');
  const files = ['run', 'collection.json', '--environment', 'environment.json'];
  const reporters = ['--reporters', 'cli,json', '--reporter-json-export', report];
  const { code, output, seconds } = await run(['npx', '--yes', `newman@${VERSION}`, ...files, ...reporters], folder);
  const { stats, executions } = (JSON.parse(await readFile(report, 'utf8')) as Report).run;
  const refused = executions.filter(({ response }) => (response?.code ?? 0) >= 300).map(({ item }) => item.name);
  const { requests, assertions } = stats;
  const counts = `${requests.total} requests, ${assertions.failed} of ${assertions.total} assertions failed`;
  const others = refused.length === 0 ? 'all successes' : `documented refusals: ${refused.join(', ')}`;
  return {
    ok: code === 0 && stats.requests.total === 89,
    says: `${counts}, ${others} (${VERSION}, ${seconds} s)`,
    output,
  };
}
