#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// Saves a third of each start (0.30 s without, 0.18 s with), and a receiver that restarts has 1.4 s.
enableCompileCache();
const { runProgram } = await import('./program.ts');
await runProgram();
