/** What a new thread shows. */
export function Empty() {
  return (
    <div className="so-empty">
      <h2>What should the agent do?</h2>
      <p>
        Ask for something that cannot be undone. The agent stops before it does it, shows you exactly what would
        happen, and waits for your word, also across a reload or a restart of the server.
      </p>
      <p>
        The <a href="/">start page</a> has words to try.
      </p>
    </div>
  )
}
