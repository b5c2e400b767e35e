// Imported first: libraries read the working directory when they are loaded.

try {
  process.cwd();
} catch {
  process.stderr.write(
    'petstore-mock: the working directory no longer exists: change to another one\n',
  );
  process.exit(1);
}
