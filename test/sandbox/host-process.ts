import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';

/** Runs sandboxes for the tests of one file, in a process apart from the clients that talk to them. */
export type HostRequest = { id: number; start: SandboxOptions } | { id: number; close: number };
export type HostReply =
  | { id: number; started: Omit<Sandbox, 'close'> }
  | { id: number; defects: string[] }
  | { id: number; refused: { name: string; message: string; code?: unknown; action?: unknown } };

const running = new Map<number, { sandbox: Sandbox; defects: string[] }>();

async function carryOut(request: HostRequest): Promise<HostReply> {
  const { id } = request;
  if ('close' in request) {
    const { sandbox, defects } = running.get(request.close) ?? {};
    running.delete(request.close);
    await sandbox?.close();
    return { id, defects: defects ?? [] };
  }
  const defects: string[] = [];
  const onDefect = (where: string, error: unknown): void => {
    defects.push(`${where}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  };
  const sandbox = await startSandbox({ onDefect, ...request.start });
  running.set(id, { sandbox, defects });
  const { close: _close, ...started } = sandbox;
  return { id, started };
}

function refusal(id: number, error: unknown): HostReply {
  const { name, message, code, action } = error as Error & { code?: unknown; action?: unknown };
  return { id, refused: { name, message, code, action } };
}

process.on('message', (request: HostRequest) => {
  carryOut(request).then(
    (reply) => process.send?.(reply),
    (error: unknown) => process.send?.(refusal(request.id, error)),
  );
});
process.on('disconnect', () => process.exit());
