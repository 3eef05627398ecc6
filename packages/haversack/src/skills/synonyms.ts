/**
 * Words that developers use for one another, whatever the field. A prompt's word also finds skills that say the other,
 * at a discount. Written by hand from general usage.
 */

/** The terms of a term's families, itself left out. */
export function synonymsOf(term: string): readonly string[] {
  const found: string[] = [];
  const wanted = ` ${term} `;
  for (let at = FAMILIES.indexOf(wanted); at >= 0; at = FAMILIES.indexOf(wanted, at + 1)) {
    const line = FAMILIES.slice(FAMILIES.lastIndexOf("\n", at) + 1, FAMILIES.indexOf("\n", at));
    for (const other of line.trim().split(" ")) if (other !== term) found.push(other);
  }
  return found;
}

/**
 * One family a line, as terms (stems): stemming them at each start of the hook process would cost more than ranking.
 * The test holds them against the words they come from. A space at either end of a line, and one text: a search finds a word, and
 * most prompts find none.
 */
const FAMILIES = `
 slow fast latenci perform spe bottleneck optim 
 cost monei pric spend cheap bill budget expens 
 bug error failur crash defect exception fail 
 debug diagnos troubleshoot investig 
 deploi ship releas publish host rollout 
 delet remov drop 
 review audit inspect 
 plan roadmap breakdown 
 auth authentic 
 auth author 
 login authentic signin 
 permiss author access role 
 secret credenti password 
 messag queu event 
 chart graph plot diagram visual 
 ui interfac frontend layout 
 styl css them 
 excel spreadsheet xlsx 
 powerpoint slid deck present pptx 
 word docx 
 pictur imag photo 
 kubernetes clust pod 
 dock container dockerfil 
 vulner secur exploit attack harden 
 refact cleanup simplifi restructur 
 upgrad migr modern port 
 monit observ telemetri metric 
 concurrenci parallel thread 
 aggreg group sum total 
 idea brainstorm 
 estim effort dur 
 access wcag aria 
 transl local international 
 scaffold bootstrap initial templ 
 mock stub fake 
 schedul cron timer 
 cach memo 
 retri resili backof 
 benchmark profil 
 infrastructur terraform iac bicep 
 llm gpt claud openai 
 rag embed vect semantic 
`;
