import { dirname, join } from 'node:path';
import ts from 'typescript-5';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/package.ts';
import { check, useTypesProject } from '../helpers/types-project.ts';

describe.concurrent('the types that are published', () => {
  useTypesProject();

  const NODE16 = { module: 'node16' };
  const BUNDLER = { module: 'esnext', moduleResolution: 'bundler' };

  test.each([
    ['node16', 'their own too', { ...NODE16, skipLibCheck: false }, 'typescript'],
    ['bundler', 'their own too', { ...BUNDLER, skipLibCheck: false }, 'typescript'],
    ['bundler', 'not their own', { ...BUNDLER, skipLibCheck: true }, 'typescript-5'],
  ])('are right to the last field under %s, %s being checked', async (way, of, options, by) => {
    const name = `${way}-${of.length}-${by}`;
    const { output, code } = await check(name, ['consumer.ts'], options, by);
    expect(output).toBe('');
    expect(code).toBe(0);
  });

  test('are right for vitest and Playwright, and for their examples', async () => {
    const files = ['vitest/orders.test.ts', 'vitest/vitest.config.ts', 'playwright/orders.spec.ts'];
    const others = ['playwright/page.spec.ts', 'playwright/playwright.config.ts'];
    const options = { ...NODE16, skipLibCheck: false, allowJs: true, types: ['node'] };
    const all = [...files, ...others].map((file) => join('examples', file));
    const { output, code } = await check('examples', all, options);
    expect(output).toBe('');
    expect(code).toBe(0);
  });
});

/** What is mentioned and of no use to who imports the package. */
const NOT_FOR_USERS = [
  // The parameters of a method that only the journal calls, and of a constructor.
  'Decision',
  'Outcome',
  'ScenarioProblem',
  'Seen',
  // What other types are made with.
  'FromJson',
  'HeaderValue',
  'ListedOption',
  // Has the name CoverageShare outside.
  'Share',
];

test('every type that a signature mentions can be imported', () => {
  const entry = join(packageRoot, 'dist/types/index.d.ts');
  const options: ts.CompilerOptions = { module: ts.ModuleKind.Node16, types: [], noLib: true };
  const host = ts.createCompilerHost(options);
  const { resolvedModule } = ts.resolveModuleName('./mock.ts', entry, options, host);
  const own = dirname(resolvedModule?.resolvedFileName ?? '');
  // Nothing but the package's own types is looked into: those of Node and of vitest take seconds.
  host.resolveTypeReferenceDirectiveReferences = (all) =>
    all.map(() => ({ resolvedTypeReferenceDirective: undefined }));
  host.resolveModuleNameLiterals = (all, from) =>
    all.map(({ text }) =>
      text.startsWith('.')
        ? ts.resolveModuleName(text, from, options, host)
        : { resolvedModule: undefined },
    );
  const program = ts.createProgram([entry], options, host);
  const checker = program.getTypeChecker();
  const resolved = (symbol: ts.Symbol): ts.Symbol =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const source = program.getSourceFile(entry);
  const file = source && checker.getSymbolAtLocation(source);
  const exported = file ? checker.getExportsOfModule(file) : [];
  const names = new Set(exported.map(({ name }) => name));
  const isOurs = ({ declarations = [] }: ts.Symbol): boolean =>
    declarations.some(
      (it) =>
        it.getSourceFile().fileName.startsWith(own) &&
        (ts.isInterfaceDeclaration(it) ||
          ts.isTypeAliasDeclaration(it) ||
          ts.isClassDeclaration(it)),
    );
  const missing = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)) {
      const name = ts.isTypeReferenceNode(node) ? node.typeName : node.expression;
      const found = checker.getSymbolAtLocation(name);
      const symbol = found && resolved(found);
      if (symbol && isOurs(symbol) && !names.has(symbol.name)) missing.add(symbol.name);
    }
    ts.forEachChild(node, visit);
  };
  for (const { declarations = [] } of exported.map(resolved)) declarations.forEach(visit);
  expect(names.size).toBeGreaterThan(60);
  expect([...missing].sort()).toEqual(NOT_FOR_USERS.toSorted());
});
