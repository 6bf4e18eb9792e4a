//! scratch
use corpus::{*, tagger::*};
use std::collections::BTreeMap;
use std::time::Instant;
fn class(words: &[Word], i: usize, knows: &impl Fn(&str)->bool) -> i32 {
    let w=&words[i]; let pos=w.pos.name(); let ner=w.entity.name();
    if !w.text.chars().any(char::is_alphanumeric) { return -1; }
    let last = i+1==words.len() || words[i+1].entity!=w.entity;
    let numeric = matches!(ner,"NUMBER"|"DATE"|"PERCENT");
    if ner!="O" && !numeric && ["NN","JJ","RB"].iter().any(|p| pos.starts_with(p)) { return if last {0} else {-1}; }
    if numeric { return -1; }
    if pos.starts_with("NN") && !knows(&w.text) { return 0; }
    if pos=="NN"||pos=="NNS" { return 1; }
    if pos.starts_with("VB") { return if ["was","were","is","are","be","been","had","have","has","did","do","does","'s","'re","'m","'ve","'d","'ll"].contains(&w.text.as_str()) {-1} else {2}; }
    if pos=="IN"||pos=="TO" { return 3; }
    -1
}
fn arg(k:&str,d:f64)->f64{ std::env::args().find_map(|a| a.strip_prefix(&format!("{k}=")).map(|v| v.parse().unwrap())).unwrap_or(d) }
fn cpu()->f64{ std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(' ').next().unwrap().parse::<f64>().unwrap()/1e9 }
fn main(){
    let mut train_books=vec![]; let mut eval=vec![];
    let dev = std::env::args().any(|a| a=="dev");
    let small = std::env::args().any(|a| a=="small");
    let mut paths: Vec<_> = std::fs::read_dir("/tmp/gd/tagged").unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let held=["Kingsley","Stevenson","Wilde","Irving","Stowe","Dickens","Barrie"];
    for (i,p) in paths.iter().enumerate() {
        let n=p.file_name().unwrap().to_string_lossy().into_owned();
        let h = held.iter().any(|x| n.contains(x));
        if n.starts_with("train") && !(dev && h) { if !small || i%4==0 { train_books.push(Book::read_tagged(p).unwrap()); } }
        else if n.starts_with("valid") || (dev && h) || (!dev && std::env::args().any(|a| a=="test")) { eval.push(Book::read_tagged(p).unwrap()); }
    }
    let mut r=Recipe::default();
    r.lexicon.n_fine=arg("fine",r.lexicon.n_fine as f64) as usize; r.lexicon.n_coarse=arg("coarse",r.lexicon.n_coarse as f64) as usize;
    r.lexicon.rounds=arg("rounds",r.lexicon.rounds as f64) as usize;
    
    
    for (k,p) in [("p",&mut r.pos),("e",&mut r.entity)] {
        p.epochs=arg(&format!("{k}epochs"),p.epochs as f64) as usize; p.min_mistakes=arg(&format!("{k}min"),p.min_mistakes as f64) as u32;
        p.n_weights=arg(&format!("{k}n"),p.n_weights as f64) as usize;
    }
    let t=Instant::now();
    let load=std::env::args().find_map(|a| a.strip_prefix("load=").map(String::from));
    let tg = if let Some(l)=&load { let b=std::fs::read(l).unwrap(); let t=Instant::now(); let x=Tagger::from_bytes(&b).unwrap(); eprintln!("load {:?}",t.elapsed()); x } else { train(&train_books,&r,|p| eprintln!("{:6.1}s {p:?}",t.elapsed().as_secs_f64())) };
    if load.is_none() { if let Some(l)=std::env::args().find_map(|a| a.strip_prefix("save=").map(String::from)) { tg.write(l.as_ref()).unwrap(); eprintln!("size {}",std::fs::metadata(l).unwrap().len()); } }
    eprintln!("{}", tg.sizes());
    let mut tot=[0f64;10]; let mut conf: BTreeMap<(String,String),(usize,BTreeMap<String,usize>)>=BTreeMap::new();
    let mut nconf=conf.clone();
    let mut time=0.0;
    for b in &eval {
        let s: Vec<Vec<String>>=b.sentences.iter().map(|s| s.iter().map(|w| w.text.clone()).collect()).collect();
        let t=Instant::now();
        let o=tg.tag(s.clone());
        let _=t; let mut best=f64::MAX; for _ in 0..4 { let s=s.clone(); let t=cpu(); let o=tg.tag(s); best=best.min(cpu()-t); drop(o); }
        time+=best;
        let mut c=[0f64;10];
        for (a,o) in b.sentences.iter().zip(&o) { for i in 0..a.len() {
            c[0]+=1.0; if a[i].pos==o[i].pos {c[1]+=1.0} else { let e=conf.entry((a[i].pos.name().into(),o[i].pos.name().into())).or_default(); e.0+=1; *e.1.entry(a[i].text.clone()).or_default()+=1; }
            let (g,p)=(a[i].entity!=Entity::NONE,o[i].entity!=Entity::NONE);
            if g&&p {c[2]+=1.0} else if p {c[3]+=1.0} else if g {c[4]+=1.0}
            if g!=p {let e=nconf.entry((a[i].entity.name().into(),o[i].entity.name().into())).or_default(); e.0+=1; *e.1.entry(a[i].text.clone()).or_default()+=1; }
            let k=|w:&str| tg.knows(w);
            let (x,y)=(class(a,i,&k),class(o,i,&k));
            if x==y {c[5]+=1.0}
            if x==0&&y==0 {c[6]+=1.0} else if y==0 {c[7]+=1.0} else if x==0 {c[8]+=1.0}
        }}
        for i in 0..10 {tot[i]+=c[i]}
        println!("{:60.60} {:7} pos {:.2} ent F {:.4} class {:.2} NE F {:.3}",b.name,c[0],100.0*c[1]/c[0],2.0*c[2]/(2.0*c[2]+c[3]+c[4]),100.0*c[5]/c[0],2.0*c[6]/(2.0*c[6]+c[7]+c[8]));
    }
    let c=tot;
    println!("{:60.60} {:7} pos {:.3} ent F {:.4} class {:.3} NE F {:.4}  {:.0} tok/s","TOTAL",c[0],100.0*c[1]/c[0],2.0*c[2]/(2.0*c[2]+c[3]+c[4]),100.0*c[5]/c[0],2.0*c[6]/(2.0*c[6]+c[7]+c[8]),c[0]/time);
    if std::env::args().any(|a| a=="conf") { for m in [conf,nconf] {
        let mut v: Vec<_>=m.into_iter().collect(); v.sort_by_key(|x| std::cmp::Reverse(x.1.0));
        for (k,(n,w)) in v.into_iter().take(25) { let mut w: Vec<_>=w.into_iter().collect(); w.sort_by_key(|x| std::cmp::Reverse(x.1)); println!("  {k:?} {n} {:?}",&w[..w.len().min(9)]); }
    }}
}
