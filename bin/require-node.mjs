// Plain JavaScript for whatever Node reads it.

/** The oldest Node that runs hirebridge. */
export const NEEDED_NODE = 24;

/** Whether this process's Node is one of them. */
export const isNodeNewEnough = Number.parseInt(process.versions.node, 10) >= NEEDED_NODE;

/** Throws one line, without a stack, when it is not. */
export function requireNode(what) {
  if (isNodeNewEnough) return;
  const error = new Error(`${what} needs Node ${NEEDED_NODE} or newer, and this is Node ${process.versions.node}.`);
  error.stack = error.message;
  throw error;
}
