// Imported first: libraries ask for the working directory when they are loaded.

try {
  process.cwd();
} catch {
  process.stderr.write('petstore-mock: the working directory is gone: change to one that exists\n');
  process.exit(1);
}
