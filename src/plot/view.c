/* Views of point clouds. Coordinates travel as 16 bits between a cloud's bounds, in base64; the script decodes, moves,
 * turns and draws them into a canvas with a depth buffer of its own, so that nothing but a browser is needed. */
#include "plot/view.h"

#include "base/number.h"
#include "base/random.h"
#include "plot/page.h"

#include <math.h>

static const char STYLE[] =
    "<style>\n"
    ".views{display:flex;flex-wrap:wrap;gap:1rem}.views figure{flex:1 1 20rem;margin:0}\n"
    ".views canvas{width:100%;aspect-ratio:1;border:1px solid var(--line);border-radius:.4rem;touch-action:none;"
    "cursor:grab;display:block}\n"
    ".views figcaption{font-weight:600;margin-bottom:.3rem}.keys label{margin-right:1.2rem}\n"
    ".keys i{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin:0 .3em}\n"
    "</style>\n";

/* Rotation about the screen's axes; x to the right, y up, z towards the reader. */
static const char SCRIPT[] =
    "const box=document.currentScript.parentElement,boxes=[...box.querySelectorAll('input')];\n"
    "let R,zoom,asked=false,held=new Map(),spread=0;\n"
    "function turn(a,b){const c=Math.cos(a),s=Math.sin(a),d=Math.cos(b),t=Math.sin(b),[x,y,z]=R;\n"
    " const w=z.map((v,k)=>c*v-s*x[k]);R=[x.map((v,k)=>c*v+s*z[k]),y.map((v,k)=>d*v-t*w[k]),"
    "w.map((v,k)=>d*v+t*y[k])];}\n"
    "function reset(){R=[[1,0,0],[0,0,1],[0,-1,0]];zoom=1;turn(.5,.35);}\n"
    "function unpack(c){const b=atob(c.d),p=new Float64Array(b.length/2);\n"
    " for(let k=0;k<p.length;++k)p[k]=c.o[k%3]+(b.charCodeAt(2*k)|b.charCodeAt(2*k+1)<<8)*c.s[k%3];return p;}\n"
    "function move(p,t){if(!t)return p;const q=new Float64Array(p.length);\n"
    " for(let k=0;k<p.length;k+=3)for(let d=0;d<3;++d)"
    "q[k+d]=t[4*d]*p[k]+t[4*d+1]*p[k+1]+t[4*d+2]*p[k+2]+t[4*d+3];return q;}\n"
    "function share(a,f){a.sort();return a.length?a[Math.floor(f*(a.length-1))]:0;}\n"
    "function fit(v){v.o=[0,1,2].map(d=>{const a=Float64Array.from(v.p.flatMap(p=>[...p].filter((x,k)=>k%3===d)));\n"
    "  return(share(a,.01)+share(a,.99))/2;});\n"
    " const r=[];for(const p of v.p)for(let k=0;k<p.length;k+=3)"
    "r.push(Math.hypot(p[k]-v.o[0],p[k+1]-v.o[1],p[k+2]-v.o[2]));\n"
    " v.r=share(Float64Array.from(r),.98)||1;}\n"
    "const points=clouds.map(unpack),views=[...box.querySelectorAll('canvas')].map((cv,k)=>"
    "({cv,g:cv.getContext('2d'),p:points.map((p,c)=>move(p,panels[k][c]))}));\n"
    "views.forEach(fit);reset();\n"
    "function color(name){const h=getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1),\n"
    "  w=h.length===3?[...h].map(c=>c+c).join(''):h;return[0,2,4].map(k=>parseInt(w.slice(k,k+2),16));}\n"
    "function draw(v){const f=Math.min(2,window.devicePixelRatio||1),w=Math.max(1,Math.round(v.cv.clientWidth*f)),\n"
    "  h=Math.max(1,Math.round(v.cv.clientHeight*f));\n"
    " if(v.cv.width!==w||v.cv.height!==h){v.cv.width=w;v.cv.height=h;}\n"
    " const img=v.g.createImageData(w,h),a=img.data,z=new Float32Array(w*h).fill(-1e30),"
    "s=.48*Math.min(w,h)*zoom/v.r,n=Math.max(1,Math.round(1.6*f)),back=color('--ground');\n"
    " v.p.forEach((p,c)=>{if(!boxes[c].checked)return;const rgb=color('--c'+clouds[c].c);\n"
    "  for(let k=0;k<p.length;k+=3){const q=[p[k]-v.o[0],p[k+1]-v.o[1],p[k+2]-v.o[2]],"
    "at=R.map(e=>e[0]*q[0]+e[1]*q[1]+e[2]*q[2]);\n"
    "   const x=Math.round(w/2+s*at[0]),y=Math.round(h/2-s*at[1]);if(x<0||y<0||x+n>w||y+n>h)continue;\n"
    "   const near=Math.max(.35,Math.min(1,.7+.35*at[2]/v.r));\n"
    "   for(let j=y;j<y+n;++j)for(let i=x;i<x+n;++i){const m=j*w+i;if(z[m]>=at[2])continue;z[m]=at[2];\n"
    "    for(let d=0;d<3;++d)a[4*m+d]=near*rgb[d]+(1-near)*back[d];a[4*m+3]=255;}}});\n"
    " v.g.putImageData(img,0,0);}\n"
    "function ask(){if(!asked){asked=true;requestAnimationFrame(()=>{asked=false;views.forEach(draw);});}}\n"
    "function scale(by){zoom=Math.max(.1,Math.min(100,zoom*by));ask();}\n"
    "for(const{cv}of views){\n"
    " cv.addEventListener('pointerdown',e=>{cv.setPointerCapture(e.pointerId);"
    "held.set(e.pointerId,[e.clientX,e.clientY]);spread=0;});\n"
    " for(const name "
    "of['pointerup','pointercancel'])cv.addEventListener(name,e=>{held.delete(e.pointerId);spread=0;});\n"
    " cv.addEventListener('pointermove',e=>{const was=held.get(e.pointerId);if(!was)return;\n"
    "  held.set(e.pointerId,[e.clientX,e.clientY]);\n"
    "  if(held.size===1){turn((e.clientX-was[0])*.01,(e.clientY-was[1])*.01);ask();return;}\n"
    "  const[a,b]=[...held.values()],now=Math.hypot(a[0]-b[0],a[1]-b[1]);"
    "if(spread>0)scale(now/spread);spread=now;});\n"
    " cv.addEventListener('wheel',e=>{e.preventDefault();scale(Math.exp(-e.deltaY*.0015));},{passive:false});\n"
    " cv.addEventListener('dblclick',()=>{reset();ask();});\n"
    " cv.addEventListener('keydown',e=>{const s={ArrowLeft:[-.1,0],ArrowRight:[.1,0],ArrowUp:[0,-.1],"
    "ArrowDown:[0,.1]}[e.key];\n"
    "  if(s)turn(...s);else if(e.key==='+')zoom*=1.2;else if(e.key==='-')zoom/=1.2;else return;"
    "e.preventDefault();ask();});\n"
    "}\n"
    "boxes.forEach(b=>b.addEventListener('change',ask));window.addEventListener('resize',ask);\n"
    "window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change',ask);ask();\n";

/* Any number as JavaScript has it. */
static void add_number(atn_text *page, double value, char behind) {
    char number[ATN_NUMBER_TEXT];
    atn_number_print(isfinite(value) ? value : 0, number);
    atn_text_printf(page, "%s%c", number, behind);
}

static void add_base64(atn_text *page, const unsigned char *bytes, size_t length) { /* a multiple of 3 */
    static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char out[8];
    for (size_t k = 0; k + 2 < length; k += 3) {
        unsigned word = (unsigned)bytes[k] << 16 | (unsigned)bytes[k + 1] << 8 | bytes[k + 2];
        for (int d = 0; d < 4; ++d) out[d] = LETTERS[word >> (18 - 6 * d) & 63];
        atn_text_add_bytes(page, out, 4);
    }
}

/* {c: colour, o: offsets, s: steps, d: the points as three 16-bit numbers each} */
static void add_cloud(atn_text *page, const atn_view_cloud *cloud) {
    double low[3] = {0}, step[3] = {0};
    size_t n = cloud->n < ATN_VIEW_MOST_POINTS ? cloud->n : ATN_VIEW_MOST_POINTS;
    atn_random random;
    atn_random_seed(&random, 1);
    for (int d = 0; d < 3 && cloud->n; ++d) {
        double high = low[d] = cloud->axis[d][0];
        for (size_t k = 1; k < cloud->n; ++k) {
            low[d] = fmin(low[d], cloud->axis[d][k]);
            high = fmax(high, cloud->axis[d][k]);
        }
        step[d] = high / 65535 - low[d] / 65535; /* no overflow, whatever the bounds */
    }
    atn_text_printf(page, "{c:%d,o:[", (int)(cloud->color % 6));
    for (int d = 0; d < 3; ++d) add_number(page, low[d], d == 2 ? ']' : ',');
    atn_text_add(page, ",s:[");
    for (int d = 0; d < 3; ++d) add_number(page, step[d], d == 2 ? ']' : ',');
    atn_text_add(page, ",d:'");
    for (size_t k = 0; k < n; ++k) { /* one out of each of n equal parts: no pattern, whatever the order */
        double at = ((double)k + (n < cloud->n ? atn_random_unit(&random) : 0)) * (double)cloud->n / (double)n;
        size_t point = (size_t)at < cloud->n ? (size_t)at : cloud->n - 1;
        unsigned char bytes[6];
        for (int d = 0; d < 3; ++d) {
            double q = step[d] > 0 ? (cloud->axis[d][point] - low[d]) / step[d] : 0;
            unsigned value = q > 0 ? q < 65535 ? (unsigned)(q + 0.5) : 65535 : 0;
            bytes[2 * d] = (unsigned char)(value & 255);
            bytes[2 * d + 1] = (unsigned char)(value >> 8);
        }
        add_base64(page, bytes, sizeof bytes);
    }
    atn_text_add(page, "'},\n");
}

static void add_panel(atn_text *page, const atn_view_panel *panel, size_t n_clouds) {
    atn_text_add(page, "[");
    for (size_t c = 0; c < n_clouds; ++c) {
        const double *t = panel->moved ? panel->moved[c] : NULL;
        atn_text_add(page, t ? "[" : "null,");
        for (int k = 0; t && k < 16; ++k) add_number(page, t[k], k == 15 ? ']' : ',');
        if (t) atn_text_add(page, ",");
    }
    atn_text_add(page, "],\n");
}

void atn_view_draw(atn_text *page, const atn_view_cloud *clouds, size_t n_clouds, const atn_view_panel *panels,
                   size_t n_panels) {
    atn_text_printf(page, "%s<div>\n<p class=\"keys\">", STYLE);
    for (size_t k = 0; k < n_clouds; ++k) {
        atn_text_printf(page, "<label><input type=\"checkbox\" checked=\"\"/><i style=\"background:var(--c%d)\"></i>",
                        (int)(clouds[k].color % 6));
        atn_page_escape(page, clouds[k].name);
        atn_text_add(page, "</label>\n");
    }
    atn_text_add(page, "</p>\n<div class=\"views\">\n");
    for (size_t k = 0; k < n_panels; ++k) {
        atn_text_add(page, "<figure><figcaption>");
        atn_page_escape(page, panels[k].title);
        atn_text_add(page, "</figcaption><canvas tabindex=\"0\"></canvas></figure>\n");
    }
    atn_text_add(page, "</div>\n<p class=\"sub\">Drag to turn, wheel or two fingers to zoom, double click to begin "
                       "again; the arrow keys, + and - do the same.</p>\n"
                       "<noscript><p>The views need JavaScript; all else on this page does not.</p></noscript>\n"
                       "<script>/*<![CDATA[*/\n(function(){'use strict';\nconst clouds=[\n");
    for (size_t k = 0; k < n_clouds; ++k) add_cloud(page, &clouds[k]);
    atn_text_add(page, "],panels=[\n");
    for (size_t k = 0; k < n_panels; ++k) add_panel(page, &panels[k], n_clouds);
    atn_text_printf(page, "];\n%s})();\n/*]]>*/</script>\n</div>\n", SCRIPT);
}
