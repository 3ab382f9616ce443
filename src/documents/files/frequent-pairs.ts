/** The most frequent pairs of a letter beyond ASCII and its neighbour in languages with Latin letters, by the letters of their encodings. A space is any character that is no letter. */
export const frequentPairs = {
  western: [
    'füüränrüübhä ütäräüförähhöätläköühönücfäwäaßßeäßünäräfälüteßäcöfmäügtümöäg öß ögeäüssäpäkümüädäuülöcgüßlföößußölßnäiäsrößt änäbüwüsügädüzülünüßgoßöhöshüvößilöämsöbänöötißjä',
    'réà é  àdééeécté énéérétésêtdèèlsééplééf êêmémmêèsméèraîpéièètînéggémèédénxérèèmcéélvélèuêévcèféuéiéoùù éaçoéqtèhéébrêôtaçâchèèqtêéétâéjpôjàbééoéuyéîtègçulàeçsûûrrâèdtô',
    'ónióráíaásríá mácótáénódiéí ánsíámúnómñaícmééttíañ úuéésé múácuíátúlíneñcíó lííftéfáápérgúítsónúólñoróúmálútúbvípúpíísmó í épéhéuáaúécdíbúúsímnítóvéfítúrénóaíélváóxpáú áqzááxídpóíozóóságúrótmí',
    'è  èà tàù iùò ràuòé héiòì iàsìrò',
    'çããoaçê cêá çõé  éráõenãnççaémsãáriçtãódâmêntárâcórãbéeçór àtêtédê úívtóávà ídósmáváuçnáhárósáçonósõátníuáaíêmítnúópcísíúnríuéfáácjápíméúmésuívépçínífmóútúlísúbó púláêisóânléréícêsáliámíiêcçáprêáqpóértâvíétótóxiãíaágécdá',
    'örräföätänär äälå mä åväåtmåhätäläråpåövägånössääksåröålgähönäödämåd öåggöåsjäkähååkögtönågålötånöbösöäsdäävåvfäönårädåemöölkööpbä',
    'ærå påørrævæmålæænælådfægøføødægåeøvålåræsrårømækådøøs æløsænøhøøjbønæsågå øæftåævønhæiøjætæækætølkøåntønåfåømsøøgåbædøbæbbå å',
    'å  åærpålæørmåødjøråårvæføåknøtøøvhøålkågåsøådfåtåøkåtløøs øøyåenårøånøndøømølmøøttækøøbbåbøéréé ',
    'äää täänkämäläälväsäämhäjääräiäsyöätönäydälöävnä ätöpäösööräähäkömiäköö äeölötnööp',
    'iëëlëreëé ééënvéeï éénïnkélàà óó üübébïdoöörvóórhèè ',
    'ð  þaððaóðréétiðeðjóá þeí æððiðu í áálrðjáþjþáíkörátféélríuðþalímáótáðög öræðsölöðlöðrvílýýsðfséþóérþvrú óþrráöfvæínætsöönsíðþé möláoðröíftöökólháórómæmóslæföðlú ærúaböághææfsóúsjöónísþægææghöðndóánbáýttó æþihévönþtæælné',
    'ó ióé téràà és éènçaú àrmégúmínçístèílmèúbtíónaípúèstàtòièèrànsólíuèè jàífòràmícmórç úbéré àaçítrííddèiòòduïïteàbàsèrèègúlmúaóiàònàfcèsààdaïïsnúàcròòpímcíç nòòmèd',
    'í áiá íotánáiúéaéiríó níú nóháúnóiaílí éé héláhósíhíúiátráánféhúrédáósít ádídéáleáírmíás ónúcópóínsócépárócúídtíúlártúúrsésúpéácórgáónrúdúfáúsíc úfólúádámdóúcógfíóllénécáuíísúdót',
  ],
  central: [
    'ć ą ę żeośięówłająeśaćścożśltóącażórałółść żrółełokłś żył ołwóząyćićiątęędójpóępżnużzłkójęż żdęcóżnąeżłąóbbęądąćsówłsąsł śłymóułługłećązgąękłpśnśwdóeńaśyśełzęńsłnśrźćżowąń ócyłątcądźź ętólpłżaańcęłóił łągdąiżkżżlęśgónęnó',
    'í nírááváné á  článánéě něý člmáažždpřnýzářívádýžekéýcímmíví úýméhěnčiícřeárvš žjíémděšedůátožvéů ákcítáýtečměvěbývýtěčešíž álčnkýřiréúčádušžitíěldáiáišíhísštědůmřátřěžžíůsětílužábírášácučběšneřnůšikáhávůmétéásočáždéyššš',
    'ráávť é néý  čnýá náažláčlmáždú záýcándýžeýméhárácí čišeaťvš ú ľký žľujúníiťkéžiáknútáočožyťsťštátúčsúréémčeál šríútčnľavýúcoľužiáímušľnšíášísžíáseľtýábvátúečšnčanžôžšťdôťaačuččoýkádkúšoúdšiššdáámišrýívtíúšôľôsžadčyšľ oš',
    'ésásál étáárérégséélkötézáítláátódjáráénánméözsávákémáülléő ó kónáéttóágrénézéyívébáönlótőílösájkázölő áákóldátöú gá údéámdőiódúműpéábókőlépgígéőkékküőssíű újödzőűkörcé öyéöbírróívácá ébükévvőzüáumóháázzíéhrőtíémövrűlöáv',
    ' ččlščužžeoščežašniččiržžičnočišršešožčaštžb žačškžnučažšikššeežhč ščječlžšačušlšošjašižžjvš',
    ' ćuććićećaćlštećiććurćoććnaćašćoišušpćošćkšašešćršeššlšićjšk',
    'ă ţi îînşisăcătă şaţărăţrăânnţţăzăcţeţcânăămştiţvăeşătlămăăuaşăsâtpăţaţegăfăîmuţdăşaăclţîluătârţişoţuşîţbă ţbţrâăzşovâârpâmârşzâăşfâ',
  ],
  turkish: [
    'ı ınnırılıırğıiçsıışçiılızğidı öeğ ç ştıişımştönürçıığaşıkağörünümkışıyıçaiğaçşegöçedücığeıyüzzığu ümı ığrtüşiözuğrüş şaeşoğşlü küıcıdsünüşmçouşgüüşeçısöğşkdöyüğlşumüfılüç rçükböülçüşüöyçlüğüyğüyöbüölütpıçöıtıfüçüvşöössö',
  ],
  baltic: [
    'õi õvõ üääööärühmõkõõrülväüüäipõõhtätösükäüksõõuõlüdnõäläeõtmäõnjäättüähpäö öpõõhüpütõiõünlääb äõphäsäötrüürrõõbdõösögräänütpö',
    'ībā sīrīnāšatāvēlīīgīvkāāstījāzīācnīātārītiņpārāādērvīošālņaēkīšāmīdākbāējlācī šmārēāšdīīsētkļī būešūtmēšīēšģiīkašiāšišāšuņāpēāpsāšķļīķilēdēāj īē  ģmītēiģābeņņēēmēcvātūšoaļdāēlļiņuņeušzāļaežkšījbīrķšcgāāvņižoūdēļūrtņpņļu',
    'ų ą ę  į žžmį ėsiųnėsębūišūtmą šė tųškįsžiėmsėjųėjbėčišiešmųšavėdėūrvęjąažštžvnčsąkėgąėtižnędžnįiąląbętąlėtūąžėltėrėš ųjkūmėžįrįužšeačūdašžaąlrąūssųžekššož ąjtįšrbąšlkųįtrųąsįvkęšvgūečežnąvąįžkąęsrūūpėšč gėėrįgšdūmmééjžo',
  ],
} as const;
