import { parseSync } from "vite";

/** One place where a file names another module. */
export type Import = { specifier: string; typeOnly: boolean; line: number };

/** What the rules want to know of one TypeScript file. */
export type ModuleSource = {
  imports: Import[];
  /** Names that are used and that nothing in the file declares, with the line of their first use. */
  globals: Map<string, number>;
  /** Strings given as the first argument to `test`, `it` and `describe` and what hangs on them. */
  titles: string[];
  comments: string[];
  /** What is declared and exported here, with the line, and whether a doc comment stands right before it. */
  exports: { name: string; line: number; documented: boolean }[];
  /** Why the file could not be read; empty when it could. */
  errors: string[];
};

type Node = { type: string; start: number; [key: string]: unknown };

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

/** Reads a file's imports, free names, test titles and comments off its syntax tree. */
export function readModule(path: string, text: string): ModuleSource {
  const { program, comments, errors } = parseSync(path, text);
  const found: ModuleSource = {
    imports: [],
    globals: new Map(),
    titles: [],
    comments: comments.map((comment) => comment.value),
    exports: [],
    errors: errors.map((error) => error.message),
  };
  const lineOf = (at: number) => text.slice(0, at).split("\n").length;
  const declared = new Set<string>();
  const docEnds = new Set(
    comments.filter(({ type, value }) => type === "Block" && value.startsWith("*")).map(({ end }) => end),
  );

  const addExports = (node: Node) => {
    const declaration = node.declaration as Node;
    const documented = docEnds.has(text.slice(0, node.start).trimEnd().length);
    for (const { id } of (declaration.declarations as Node[] | undefined) ?? [declaration])
      for (const name of namesIn(id)) found.exports.push({ name, line: lineOf(node.start), documented });
  };

  const addImport = (source: unknown, typeOnly: boolean) => {
    const specifier = textIn(source);
    if (specifier !== null) found.imports.push({ specifier, typeOnly, line: lineOf((source as Node).start) });
  };

  const visit = (node: Node): void => {
    if (node.type === "Identifier") {
      const name = node.name as string;
      if (!found.globals.has(name)) found.globals.set(name, lineOf(node.start));
    }
    if (node.type === "ImportDeclaration") addImport(node.source, node.importKind === "type");
    if (node.type === "ExportAllDeclaration") addImport(node.source, node.exportKind === "type");
    if (node.type === "ExportNamedDeclaration" && node.source)
      addImport(node.source, node.exportKind === "type");
    if (/^Export(Named|Default)Declaration$/.test(node.type) && node.declaration) addExports(node);
    if (node.type === "ImportExpression") addImport(node.source, false);
    if (node.type === "TSImportType") addImport(node.source, true);
    if (node.type === "TSExternalModuleReference") addImport(node.expression, false);
    if (node.type === "CallExpression") {
      const [first] = node.arguments as Node[];
      const callee = rootName(node.callee);
      if (callee === "require") addImport(first, false);
      const title = textIn(first);
      if (title !== null && (callee === "test" || callee === "it" || callee === "describe"))
        found.titles.push(title);
    }
    for (const name of boundBy(node)) declared.add(name);
    for (const [key, value] of Object.entries(node)) {
      if (isMereName(node, key)) continue;
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child);
    }
  };
  visit(program as unknown as Node);
  for (const name of declared) found.globals.delete(name);
  return found;
}

/** The text of a string or of a template; `null` for any other expression. Holes in a template are left out. */
function textIn(node: unknown): string | null {
  if (!isNode(node)) return null;
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type === "TemplateLiteral")
    return (node.quasis as { value: { cooked: string } }[]).map((part) => part.value.cooked).join("");
  // `import("…").Name` in a type carries its path as a literal type in some parser versions.
  if (node.type === "TSLiteralType") return textIn(node.literal);
  return null;
}

/** The name at the left end of `test`, `test.skipIf(x)`, `describe.each(rows)`, … */
function rootName(node: unknown): string | null {
  if (!isNode(node)) return null;
  if (node.type === "Identifier") return node.name as string;
  if (node.type === "MemberExpression") return rootName(node.object);
  if (node.type === "CallExpression" || node.type === "TaggedTemplateExpression")
    return rootName(node.callee ?? node.tag);
  return null;
}

/** Names that a node declares. Where in the file they hold does not matter to the rules. */
function boundBy(node: Node): string[] {
  const patterns: unknown[] = [];
  if (node.type === "VariableDeclarator" || /(Function|Class|Declaration)/.test(node.type))
    patterns.push(node.id);
  if (/^Import.*Specifier$/.test(node.type)) patterns.push(node.local);
  if (node.type === "TSTypeParameter") patterns.push(node.name);
  if (node.type === "TSMappedType") patterns.push(node.key);
  patterns.push(node.param);
  for (const list of [node.params, node.parameters]) if (Array.isArray(list)) patterns.push(...list);
  return patterns.flatMap(namesIn);
}

function namesIn(pattern: unknown): string[] {
  if (!isNode(pattern)) return [];
  switch (pattern.type) {
    case "Identifier":
      return [pattern.name as string];
    case "ObjectPattern":
      return (pattern.properties as Node[]).flatMap((part) => namesIn(part.value ?? part));
    case "ArrayPattern":
      return (pattern.elements as unknown[]).flatMap(namesIn);
    case "AssignmentPattern":
      return namesIn(pattern.left);
    case "RestElement":
      return namesIn(pattern.argument);
    default:
      return [];
  }
}

/** Whether what stands under `key` is a name that refers to nothing: a property, a label, an imported name. */
function isMereName(node: Node, key: string): boolean {
  if (key === "key") return node.computed !== true;
  if (key === "property") return node.type === "MetaProperty" || node.computed !== true;
  if (key === "meta") return node.type === "MetaProperty";
  if (key === "label" || key === "qualifier") return true;
  // `with { type: "json" }`; the attributes of a JSX element are another thing.
  if (key === "attributes") return node.type !== "JSXOpeningElement";
  if (key === "right") return node.type === "TSQualifiedName";
  if (key === "imported" || key === "exported") return true;
  // `export { name } from "…"` names something of the other module.
  return node.type === "ExportNamedDeclaration" && key === "specifiers" && Boolean(node.source);
}
