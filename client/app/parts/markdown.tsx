import { type ComponentProps, memo, type ReactNode, useRef } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { markdownBlocks, settledTail } from "../markdown-blocks.ts";
import { unbrokenClass } from "../unbroken.ts";
import { words } from "../words.ts";
import { CopyButton } from "./copy-button.tsx";

/**
 * Markdown as agents write it: GFM, no HTML, no pictures fetched from elsewhere. While it is being written only
 * its last block is rendered anew, and shows no half-written marks.
 */
export function Markdown({ text, streaming = false }: { text: string; streaming?: boolean }) {
  const blocks = markdownBlocks(text);
  const last = blocks.length - 1;
  return (
    <div className={["markdown", streaming && "streaming", unbrokenClass(text)].filter(Boolean).join(" ")}>
      {blocks.map((block, i) => (
        // Blocks only ever grow at the end: a place is an identity.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <MarkdownBlock key={i} text={streaming && i === last ? settledTail(block) : block} />
      ))}
    </div>
  );
}

/** Markdown that stands alone. */
export const MarkdownBlock = memo(function MarkdownBlock({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  );
});

const PLUGINS: ComponentProps<typeof ReactMarkdown>["remarkPlugins"] = [[remarkGfm, { singleTilde: false }]];

const COMPONENTS: Components = {
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  // Loading it would tell its server who reads this, and what the agent put into its address.
  img: ({ src, alt }) => (
    <Link href={typeof src === "string" ? src : undefined}>{words.message.picture(alt ?? "")}</Link>
  ),
  pre: ({ children }) => <Code>{children}</Code>,
  table: ({ children }) => (
    // Wide tables are scrolled, by keys too.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <div className="wide" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
  // The title of the thread is the page's heading; those of a message stand below it.
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
  h4: ({ children }) => <h4>{children}</h4>,
};

/** A link that leaves this page where it is. */
export function Link({ href, children }: { href: string | undefined; children: ReactNode }) {
  if (!href) return <span>{children}</span>;
  // Notes at the foot of a text are on this page.
  if (href.startsWith("#")) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

function Code({ children }: { children: ReactNode }) {
  const code = useRef<HTMLPreElement>(null);
  const language = /language-([\w+#.-]+)/.exec(classOf(children))?.[1];
  return (
    <div className="code">
      <div className="code-bar">
        <span>{language}</span>
        <CopyButton text={() => (code.current?.textContent ?? "").replace(/\n$/, "")} />
      </div>
      {/* Wide code is scrolled, by keys too. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
      <pre ref={code} tabIndex={0}>
        {children}
      </pre>
    </div>
  );
}

function classOf(node: ReactNode): string {
  return typeof node === "object" && node !== null && "props" in node
    ? String((node.props as { className?: unknown }).className ?? "")
    : "";
}
