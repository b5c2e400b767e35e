#!/usr/bin/env node
import nodeModule from 'node:module';

// Node 22 and later then keep the compiled program between starts.
if ('enableCompileCache' in nodeModule && typeof nodeModule.enableCompileCache === 'function') {
  nodeModule.enableCompileCache();
}
await import('./main.ts');
