/** Tells what its processes know: of a world that is open while something else fails. */
export type DescribeWorld = () => Promise<string>;

const open = new Map<object, DescribeWorld>();

export function noteWorld(world: object, describe: DescribeWorld): void {
  open.set(world, describe);
}

export function forgetWorld(world: object): void {
  open.delete(world);
}

/** Every open world's own story, for the message of a failure; empty without any. */
export async function describeWorlds(): Promise<string> {
  const told = await Promise.all(
    [...open.values()].map((describe) => describe().catch((error: unknown) => `not to be told: ${String(error)}`)),
  );
  return told.map((text) => `\n\n${text}`).join('');
}
