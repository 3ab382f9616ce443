/** Frequent words that say little by themselves but tell languages in Latin letters apart. Lower case, NFC. */
export const functionWords: Readonly<Record<string, string>> = {
  English:
    'the of and to is that for it with as was on be by this are have not you from at or which but an they were we can if will their when there what how your all more has would been do',
  German:
    'der die und das den von zu mit sich des ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um noch wie einem über so zum kann oder wenn wir ich',
  French:
    'de la le et les des en un du une que est pour qui dans par plus pas au sur ne se ce il sont avec son cette ou ces être leur mais nous vous aux elle fait été comme',
  Spanish:
    'de la que el en y los del se las por un para con no una su al es lo como más pero sus le ya o este sí porque esta entre cuando muy sin sobre también me hasta hay',
  Portuguese:
    'de a o que e do da em um para com não uma os no se na por mais as dos como mas ao das à seu sua ou quando muito nos já também só pelo pela até isso ela entre',
  Italian:
    'di e il la che in per un è del non una sono le con si da al dei come anche più della i nel alla ma lo ha gli o questo delle su se questa essere stato tra ci',
  Dutch:
    'de het van een en in is dat op te zijn met voor niet aan er om ook als dan maar bij nog uit door naar heeft ze deze worden of wordt over kan hun werd geen wat die',
  Swedish:
    'och i att en som det på är av för med den till inte om ett har de jag var så men från vi kan man när år under också efter eller hade nu där',
  Danish:
    'og i at det er en til på som for med af den de ikke der har et om var jeg han vi men fra kan eller når også blev efter hvor være skal',
  Polish:
    'w i na z do się nie że to jest o jak przez od po za ale są oraz dla tym który jego był może być ich które już tak także tylko przy jej ze',
  Czech:
    'a v se na je že s z do o k i ve by jako pro za po nebo také od jsou byl která který jeho ale tak už být podle při jsem když aby není',
  Romanian:
    'de și în a la cu din pe un o care nu este pentru că ce mai sau au prin al fi sunt se fost ca era între după lui ale fiind cum iar să',
  Hungarian:
    'a az és hogy nem is egy ez volt de meg mint csak már még van ezt azt fel vagy lehet kell után minden között ki ha el pedig amely így',
  Finnish:
    'ja on ei se että oli hän mutta kun joka myös ovat kuin sen tai ole niin vain mitä jos hänen nyt sekä siitä olisi voi sitä jo eivät',
  Turkish:
    've bir bu için ile da de olarak çok daha olan gibi o ne kadar sonra en ancak var değil ya mi her veya ise tarafından olduğu ki şey',
  Vietnamese:
    'và của là có được các trong cho không một những với người đã này khi để từ ra đến về như cũng tại vào nhiều hay sẽ thì bị nó theo',
  Indonesian:
    'yang dan di ini itu dengan untuk pada tidak dari dalam adalah akan ada juga ke oleh atau bisa saya mereka kami karena telah lebih sebagai tersebut dapat bahwa',
};
