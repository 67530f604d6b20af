// A fetch that keeps what went over the wire, with a cookie jar and a cap on posts.

const jars = new Map();

/** A cookie jar by name; tabs of one browser name the same jar. */
export function jarOf(name) {
  if (!jars.has(name)) jars.set(name, new Map());
  return jars.get(name);
}

export class Wire {
  /** @param {{headers?: Record<string,string>, jar?: string, maxPosts?: number, counts?: (url: string) => boolean}} options */
  constructor({ headers = {}, jar, maxPosts = 12, counts = () => true } = {}) {
    this.headers = headers;
    this.jar = jar === undefined || jar === null ? new Map() : jarOf(jar);
    this.maxPosts = maxPosts;
    this.counts = counts;
    this.exchanges = [];
    this.awaitingHeaders = 0;
    this.reading = 0;
    this.looped = false;
    this.fetch = (url, init) => this.#fetch(String(url), init);
  }

  get posts() {
    return this.exchanges.filter((one) => one.method === "POST" && this.counts(one.url)).length;
  }

  async #fetch(url, init = {}) {
    const method = init.method ?? "GET";
    if (method === "POST" && this.counts(url) && this.posts >= this.maxPosts) {
      this.looped = true;
      throw new Error(`The client posted ${this.maxPosts} times and would post again`);
    }
    const sent = new Headers({ ...this.headers, ...Object.fromEntries(new Headers(init.headers)) });
    if (this.jar.size > 0) {
      sent.set("cookie", [...this.jar].map(([name, value]) => `${name}=${value}`).join("; "));
    }
    const exchange = {
      method,
      url,
      requestHeaders: Object.fromEntries(sent),
      body: parsed(init.body),
      status: null,
      responseHeaders: {},
      text: "",
      complete: false,
    };
    this.exchanges.push(exchange);
    this.awaitingHeaders += 1;
    let response;
    try {
      response = await fetch(url, { ...init, headers: sent });
    } catch (error) {
      exchange.failure = String(error?.message ?? error);
      throw error;
    } finally {
      this.awaitingHeaders -= 1;
    }
    for (const line of response.headers.getSetCookie()) this.#store(line);
    exchange.status = response.status;
    exchange.responseHeaders = Object.fromEntries(response.headers);
    return this.#recorded(response, exchange);
  }

  #store(line) {
    const [pair, ...attributes] = line.split(";").map((piece) => piece.trim());
    const cut = pair.indexOf("=");
    const gone = attributes.some((attribute) => /^max-age=(0|-\d+)$/i.test(attribute));
    if (gone) this.jar.delete(pair.slice(0, cut));
    else this.jar.set(pair.slice(0, cut), pair.slice(cut + 1));
  }

  /** Read eagerly, not on pull: a client that stops reading must not hide the rest of the stream. */
  #recorded(response, exchange) {
    if (response.body === null) {
      exchange.complete = true;
      return response;
    }
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    this.reading += 1;
    let cancelled = false;
    const body = new ReadableStream({
      start: async (controller) => {
        try {
          for (;;) {
            const { done, value } = await reader.read();
            if (done) break;
            exchange.text += decoder.decode(value, { stream: true });
            if (!cancelled) controller.enqueue(value);
          }
          exchange.complete = !cancelled;
          if (!cancelled) controller.close();
        } catch (error) {
          exchange.failure = String(error?.message ?? error);
          if (!cancelled) controller.error(error);
        } finally {
          this.reading -= 1;
        }
      },
      cancel: (reason) => {
        cancelled = true;
        return reader.cancel(reason);
      },
    });
    return new Response(body, { status: response.status, headers: response.headers });
  }
}

function parsed(body) {
  if (body === undefined || body === null) return null;
  try {
    return JSON.parse(String(body));
  } catch {
    return String(body);
  }
}

/** Resolves true once `holds()` stayed true for `stableMs`; false when `timeoutMs` passed first. */
export async function settled(holds, { timeoutMs = 20_000, stableMs = 20 } = {}) {
  const end = performance.now() + timeoutMs;
  let since = null;
  for (;;) {
    const now = performance.now();
    if (!holds()) since = null;
    else if (since === null) since = now;
    else if (now - since >= stableMs) return true;
    if (now >= end) return false;
    await new Promise((wake) => setTimeout(wake, 2));
  }
}
