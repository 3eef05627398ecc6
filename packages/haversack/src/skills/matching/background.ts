/**
 * How common a word is in requests to a coding agent, independent of any pool of skills. Three hand-written classes, because a pool of one
 * or three skills has no word statistics of its own: without these, "test" would count as much as "kubernetes". The index stores them as
 * rows; the hook process never loads this file.
 */
import { tokenize } from "./tokenize.ts";

/** Share of ordinary requests that contain such a word. A word in no class is rare: see `rareShare` in score-text.ts. */
export const CLASS_SHARE = { everyday: 0.25, common: 0.08, known: 0.025 } as const;

/** Term (as `tokenize` returns it) → share, for the rows of the index. */
export function backgroundTerms(): Map<string, number> {
  const shares = new Map<string, number>();
  for (const [words, share] of CLASSES) {
    for (const token of tokenize(words)) {
      // If two words have the same stem, the more common one decides.
      if (!shares.has(token.term)) shares.set(token.term, share);
    }
  }
  return shares;
}

const EVERYDAY = `
skill skills add added adding build change changes changed check code coding create error errors file files find fix fixed fixes
function issue implement implementation list line lines name open part problem project read run running script see set
setup show start step steps support task tasks test tests testing time update updates work working works write writing
tell explain think question feature features version current different existing simple first last next second whole full
example examples correct case cases point place end real day folder directory path text value values type types
git commit commits push branch merge`;

const COMMON = `
access action actions agent agents allow analyze analysis api app application apply approach area argument array
assign async audit automatic automatically automate avoid back backend base based basic behavior best-practice big block
body boolean branch break bring broken browser bug bugs button call calls catch cause class classes clean clear cli click
client close cloud column command commands comment comments commit commits common compare complete complex component
components condition config configuration configure configured connect connection connections consider constant contain
content context continue control convert copy core correctly count cover crash critical custom customer data database
date debug debugging decide default define delete deploy deployed deploying deployment depend dependencies dependency
describe description design designing detail details detect develop developer development diff difference directly display
document documentation docs domain double draft drop easy edit editor element email empty enable endpoint
endpoints engineer ensure enter entire entry environment event events exact execute exist expect expected export
expression extend extra fail failed failing fails failure failures far fast fetch field fields fill filter final finish
fit flag flow focus follow following forget form format found framework free frontend front generate git github global
goal great group guide guidelines hand handle handler handling happen happens hard head high hold host hour html http
idea identify image images import important improve improvement index information initial input insert install installed
instance int integer integrate integration interface internal investigate item items iterate javascript job join json keep
key keys kind know knowledge label language large late later layer layout lead learn leave left length less level library
libraries limit link links load local location log logs logging logic long loop low machine main maintain manage management
manager manual map mark match matter mean meaning meet member memory merge message messages method methods minute miss
missing mistake mode model models modern modify module modules month move multiple network node normal note notes null
number object objects offer office old online operation operations option options order organize original output overview
package packages page pages pair parallel parameter parameters parse pass password pattern patterns people perform
performance permission permissions person pick piece pipeline plan planning platform play plugin port possible post
practice practices prefer prepare present press prevent previous print private process processes processing product
production program programming proper property propose protect provide provider public publish pull push python quality query
queries quick quickly raise random range ready reason receive recent recommend recommendation record reduce refactor
reference regular relate related relation release releases remember remote remove rename render repeat replace reply report
repository request requests require required requirements requires resource resources respond response rest restart result
results return returns review reviews reviewing rewrite risk role root route routes row rule rules safe safely save say
scale schema scope screen search section secure security select send sentence separate server servers service services
session setting settings shape share short side sign similar single site size small software solution solve sort source
space specific specify split sql stable stack standard standards state statement static status stay stop storage store
strategy stream string strings strong structure structured style subject suggest suggestion summarize summary switch syntax
system systems table tables tag tags talk target team technical template templates term terminal think thread throw together
token tokens tool tools top topic total track transform translate trigger true false try turn typescript ui under understand
unit unused upgrade url usage useful valid validate validation variable variables verify view views wait walk warning warnings
watch web website week window word words workflow workflows world wrong year yesterday tomorrow`;

const KNOWN = `
abstract accept account accurate active actual admin advanced advice alert alerts algorithm alias align alternative
amount analytics animation annotation answer architect architecture archive arrange artifact assert assertion assess
asset assume attach attempt attribute auth authentication authorization author auto available average aware aws azure background backup
balance bar bash batch benchmark billing binary bind binding blog book bootstrap bottleneck boundary box brainstorm brand breakdown bridge
broad budget buffer bundle business cache caching calculate calendar callback cancel capability capacity capture card career carefully
catalog category center central certificate chain challenge chance channel character charge chart chat checklist checkout
child choice choose chunk clarify cleanup clone cluster collaborate collaboration collect collection color combine
comfortable company comparison compatibility compatible compile compiler compliance compose composition compress compute computer
concept concern concurrency concurrent conflict conflicts confirm confuse confusing consistency consistent console consolidate constraint
constraints constructor consume consumer container containers contract contribute convention conventions conversation cost costs coordinate
coverage cpu crud css csv culture curl cursor customize cycle daily dashboard dead debt decision decisions declare decorator deep defect
delay deliver delivery demo deny deprecated derive destination detection device devops diagnose diagnostics diagram dialog
directive disable discover discovery discuss disk distribute distributed docker dockerfile download draw driver duplicate
duration dynamic ecosystem edge effect effective efficient effort embed embedding employee encode encoding encrypt encryption enforce engine
enhance enterprise entity enum equal escape essay estimate evaluate evaluation evidence exception exceptions exclude executable
exercise expensive experience expert expire explore expose extension external extract factor factory fallback family favorite
feedback figure filename firewall fixture flaky flexible float font footer force foreign foundation frame frequency
friend friendly fresh game gap gateway gather gcp generator generic go google gpu grant graph graphics graphql grid growth grpc
guarantee guidance half hash header headers health heap height hidden hierarchy highlight history home hook hooks horizontal hot
hover human hybrid icon identifier identity ide ignore immediate impact implicit inbox incident independent industry infer
infrastructure inherit inheritance init inject injection inline inspect instruction instructions instrument insight intent interact
interactive interview invalid invoice invoke ios android isolate isolation java kotlin swift rust ruby php kafka kernel kubernetes lambda latency latest launch
lazy leak legacy legal lesson letter license lifecycle light linear linux lint linter listen live lock login logout lookup loose
maintenance major malformed manifest margin markdown market marketing mask master math maximum measure mechanism media
medium menu metadata metric metrics micro microservice microservices middleware migrate migration migrations minimal minimum minor mobile mock mocks
mongodb monitor monitoring monorepo mutable mutation mysql native navigate navigation nest news nextjs nodejs noise notice
notification notifications npm nullable numeric oauth observe observability offline onboarding ongoing optimization optimize optimizing orchestrate
orchestration organization outline overhead override owner ownership pagination panel paper paragraph parent parser partial
partition patch payload payment peer pending personal phase phone photo physical pipe pixel placeholder plain
policy policies pool pop portable position postgresql power pr precise prefix preference presentation preview price pricing primary primitive principle
priority privacy procedure producer profile profiling progress promise prompt prompts proof propagate proposal protocol prototype proxy
publisher purpose queue queues quota rapid rate raw react realtime reality reasoning recipe recover recovery recursive redirect redis
redundant refine refresh regex region register registration registry regression regulation reject reliability reliable reload
remind repair replica reproduce research reset resolve resize resilience responsive responsible restore restrict retry retries
reuse reusable revenue revert revision rich robust rollback rollout rotate router routing runtime saas sales sample sandbox scaffold
scan scenario scene schedule scheduling scientific scratch scroll sdk seconds secret secrets seed segment semantic sensitive sequence serial
serialization serialize serverless shared shell ship signal signature simplify simulate skeleton skip slack slice slow slower smart smooth snapshot
snippet social socket solid spec specification speed spend spike sprint stage staging stakeholder stale stand standardize startup statistics stateful story storybook
strict stub student stuck submit subscription subset suffix suite supply surface swagger symbol sync synchronous synthetic tailwind
technique technology temporary tenant terraform theme theory ticket tier timeline timeout title toggle tone
topology trace traces tracing tracker trade-off traffic train training transaction transactions transfer transition travel tree trend troubleshoot troubleshooting trust tune tuple
tutorial tweak typed typo unexpected uniform unique universal unknown unusual upload upstream usability utility ux vague variant vendor verbose
vertical video virtual visibility visible visual visualize vm voice volume vue vulnerability vulnerabilities warehouse weak weather webhook
weight widget width wiki wire wizard worker workers workspace worktree wrap wrapper xml yaml zero zone
`;

/** Plain English and basic programming words: known to everyone, and hardly ever the subject of a skill. */
const PLAIN = `
ai ml llm llms mcp dev prod qa os pc cpu ram gb mb kb ms fps hd pm am utc faq pto hr vp ceo cto diy fyi asap tldr
accent accident addition address adjacent admit advantage africa afternoon afterwards agree airport alike almost alone alphabet
alphabetical although amazing amend america ancient angry ant anyway anywhere apart apologize apparently appear append apple
approximately april arabic args argv arm army arrive ascending asia attitude august aunt australia autumn avatar awesome awful
awk baby backslash backward bag ball banana bank banner barely basket bathroom battery battle beach bear beautiful become bed
bedroom bee beer beforehand began beginning begun belief believe belong belt bend benefit besides bicycle bigger biggest bike
billion bird birthday bits black blame blank blood blue blunt boat bomb bone bool border bored borrow boss bottle bottom bowl
boy brace bracket brain brave bread breakfast brief bright brother brown bus butter buy bye byte cable cake calm camera capital
car carry cash cat cd ceiling cell certain chair chapter char cheap checkbox cheers cheese cherry chicken china chinese chmod
chocolate chown circle city clamp clever climb clipboard clock coat coffee coin cold colleague college colon colour comma
complain concat concatenate cons const cook cookie cool corner cough country couple court cousin cow coworker cp crime crowd
cruel cry ctor cup cut dance danger dark dash daughter december decent decimal decrease decrement def definitely depart depth
descending desk desktop dessert destructor detach diagonal diameter diary dict dictionary digit dinner dirty disadvantage
disagree disappear disaster disease divided dns doctor dog doll dollar door dot doubt downside downward dozen drag drawback
dream dress drink dropdown dry duck dummy dust dutch ear early earn east eat echo educate egg eight eighth elephant eleven elif
elsewhere emacs enemy england english enough envelope euro europe evening eventually everywhere exam excellent excited excuse
exit expand eye face fake fall farmer fastest father fault favourite fear february feeling feet fever fifth film fine finger
fire fish five fixme flip floor fly food foolish forbid forbidden forest forever forgive fork forward four fourth fraction
france frankly freeze french friday fridge frog froze fruit ftp fully func funny future gain garden gate general gentle german
germany getter giant gift girl glass glove goodbye grab graduate grammar grandfather grandmother grape grass gray greek green
greet grep grey grow guess guest gun gzip habit haiku hair hang happy hashmap hat hate hear heart heavy helper hero hide
highest hill hindi hit hmm holiday hollow homework honest hope horrible horse hospital hotel house huge hundred hung husband
hyphen ice imagine incomplete increase increment indent india infinity ink inner interpreter invisible invite inward ip island
italian italy jacket january japan japanese jealous joke journey judge juice july jump june keyboard kick kid kill king kitchen
knee knife korean kwargs lake lamp laptop largest latin laugh law lawyer leaf leftover leg lemon lend lib lie lift lion
literally little localhost lonely longest lose loud love lower lowercase lowest ls luck luggage lunch magazine man march max
meal meanwhile meat medicine men mention mess middle milk million min mind minus mirror mkdir modal monday money monkey mood
moon morning mostly mother mountain mouse mouth movie mud multiply music mv nan nano narrow nation navbar nearest nearly neck
negative neighbor neighbour nervous newer newest newline newspaper nice nicer nightly nil nine ninth none noon nope north nose
notebook novel november nowhere nurse obsolete obvious ocean october odd offset older oldest once oops opinion opposite orange
ordinary orphan otherwise outdated outer outward oven owe padding pain pale pan pants parentheses parenthesis particular
partner passport paste pause peace pen pencil pepper percent percentage perfect permit peru phrase pig pilot pink pizza plate
plenty plug pocket poem police polish polite poor popup portuguese possess possibly pot pour practise prepend pretend pretty
prime printf println prison probably pros proud pupil purple puzzle quarter queen quiet quit quote radio radius rain rare rat
ratio reach readme rearrange rebase rebuild recall recheck recognize recursion red redo reformat refuse regroup reinstall
relabel remain reopen reorder rephrase reread rerun resend restaurant resume retest reveal reverse reword rice ride ring rise
river rm road rock roof room rotten rough round rude russian sad safety salad salary salt sand saturday scared school sea
season sed sell semicolon sense september serious setter seven seventh shadow shake shallow sharp sheep sheet shirt shoe shop
shortcut shortest shoulder shout shown shrink shuffle sidebar sideways signin signup silent silly simply sing singleton sink
sister six sixth sketch skin skirt sky slash sleep slider slowest smallest smell smile smoke snack snake snow sock sofa soft
soldier somehow somewhere son song soon sorry soup south spain spanish spare speak special spelling spider spin spoon spring
square squash squeeze ssh stacktrace stairs stalled stamp star stash station stderr stdin stdout steady stone storm straight
stranger street stretch stride strip struct study stupid subclass subdomain subfolder submenu subtract sudden sudo sugar sum
summer sun sunday superclass suppose swap swear swim swipe synonym tab tablet tail tall tap tar taste tax tcp tea teach teeth
television temp ten tenth terrible thick thin third though thought thousand thursday tiger tight tiny tired tmp todo tongue
tonight toolbar tooltip tooth touch tour town toy traceback tradition triangle trim trip triple trouble truck truncate truth
tuesday tunnel turkish twelve twice twist typedef typical udp ugly uncle undef undefined underscore undo university unless
unnecessary unsigned unsorted unwrap unzip upper uppercase upside upward uri username usual vacation valley vanish var vector
verse village vim visit wage wake wall wander war warm waste water weapon wedding wednesday weekend weird welcome west wet wget
whisper white whitespace wide wider wife win wind wine winter wise wish wolf woman women wonder worry worse worst wow yard yeah
yellow yep young zip zoom
`;

const CLASSES: readonly (readonly [string, number])[] = [
  [EVERYDAY, CLASS_SHARE.everyday],
  [COMMON, CLASS_SHARE.common],
  [KNOWN, CLASS_SHARE.known],
  [PLAIN, CLASS_SHARE.known],
];
