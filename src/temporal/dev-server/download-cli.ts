import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { z } from 'zod';
import type { CliProgress } from './cli-progress.ts';
import { PINNED_ARCHIVES, PINNED_CLI, readCliVersion } from './cli-version.ts';

const run = promisify(execFile);

/** What Temporal's download service answers about a release; its SDK core asks the same address. */
const Release = z.object({ archiveUrl: z.url(), fileToExtract: z.string().min(1) });

const platforms: Partial<Record<NodeJS.Platform, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' };
const machines: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };

export const TEMPORAL_DOWNLOAD = 'https://temporal.download';

export interface Download {
  /** Base address of the download service. */
  from: string;
  /** Of the archive; that of the pinned release where absent. */
  sha256?: string | undefined;
  onProgress: (progress: CliProgress) => void;
}

/**
 * Downloads the pinned release into `scratch` and returns the extracted binary, which has run once; nothing of an
 * archive with another checksum is unpacked or run. Throws with a plain reason. A closed network answers in
 * milliseconds; one that drops packets costs the 3 s of the connect timeout.
 */
export async function downloadCli(scratch: string, { from, sha256, onProgress }: Download): Promise<string> {
  const platform = platforms[process.platform];
  const arch = machines[process.arch];
  if (platform === undefined || arch === undefined) throw new Error('no release for this platform');
  const pinned = sha256 ?? PINNED_ARCHIVES[`${platform} ${arch}`] ?? '';
  if (pinned === '') throw new Error(`no checksum is pinned for ${platform} ${arch}, so nothing was downloaded`);
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: 3_000 },
    headersTimeout: 10_000,
    bodyTimeout: 20_000,
  });
  try {
    const query = new URLSearchParams({ arch, platform, format: platform === 'windows' ? 'zip' : 'tar.gz' });
    const described = await fetch(`${from}/cli/v${PINNED_CLI}?${query.toString()}`, { dispatcher });
    if (!described.ok) throw new Error(`HTTP ${described.status}`);
    const release = Release.parse(await described.json());
    const archive = path.join(scratch, 'archive');
    onProgress({ doing: `Downloading the Temporal CLI ${PINNED_CLI}` });
    const download = await fetch(release.archiveUrl, { dispatcher });
    if (!download.ok || download.body === null) throw new Error(`HTTP ${download.status} for the archive`);
    const hash = createHash('sha256');
    const hashed = Readable.fromWeb(download.body).on('data', (chunk: Buffer) => hash.update(chunk));
    await pipeline(hashed, createWriteStream(archive));
    const found = hash.digest('hex');
    if (found !== pinned) throw new Error(`the archive has the SHA-256 ${found}, and ${pinned} is pinned`);
    return await extract(archive, scratch, release.fileToExtract);
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error });
  } finally {
    await dispatcher.close();
  }
}

async function extract(archive: string, scratch: string, member: string): Promise<string> {
  const binary = path.join(scratch, member);
  if (!binary.startsWith(scratch + path.sep)) throw new Error('the archive names a file outside itself');
  await run('tar', ['-xf', archive, '-C', scratch, member]).catch((error: unknown) => {
    throw new Error('the archive is damaged or tar is missing', { cause: error });
  });
  await readCliVersion(binary);
  return binary;
}

/** fetch hides what happened in a chain of causes. */
function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return 'the download service did not describe a release';
  let deepest = error as Error & { code?: string };
  while (deepest.cause instanceof Error && deepest.code === undefined) deepest = deepest.cause as typeof deepest;
  const { code } = deepest;
  return code?.startsWith('E') || code?.startsWith('UND_') ? `${code}` : (error as Error).message;
}
