// Reads a directory of tenant files as a worker's first start does, and prints how long that took, ms.
import { loadTenants } from '../../src/tenants/load-tenants.ts';

const before = performance.now();
await loadTenants(process.argv[2] ?? '');
process.stdout.write(`${performance.now() - before}`);
