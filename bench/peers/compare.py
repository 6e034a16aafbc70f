"""Time and error of attune register beside small_gicp, Open3D, pycpd and probreg, on the same points, in turn.

Times are those of the registration alone: files are read before, and each program's own preparation (downsampling,
normals, covariances, trees, features) counts, as ours does. See README.md.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def arguments():
    p = argparse.ArgumentParser(prog="bench/peers/run", description=__doc__.splitlines()[0])
    p.add_argument("files", nargs="*", metavar="FILE", help="SOURCE TARGET; the demo's scans unless given")
    p.add_argument("--truth", metavar="FILE", help="transform, 4 x 4 as text or JSON; target = T source")
    p.add_argument("--attune", metavar="PROGRAM", default=str(ROOT / "build" / "attune"))
    p.add_argument("--place", metavar="DIR", default=str(ROOT / "build" / "peers"), help="where to keep files")
    p.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of everybody; all unless given")
    p.add_argument("--repeats", type=int, default=5)
    p.add_argument("--limit", type=float, default=60, help="seconds: what takes longer runs once")
    p.add_argument("--size", type=int, default=10000, help="points of the demo's scans")
    p.add_argument("--turn", default="any", help="degrees between the demo's scans, or any")
    p.add_argument("--most-pairs", type=float, default=2e7, help="programs with n x m memory are left out above")
    p.add_argument("--json", action="store_true", help="print one JSON object")
    a = p.parse_args()
    if len(a.files) not in (0, 2):
        p.error("two files, SOURCE TARGET, or none")
    return a


options = arguments()
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(options.threads)

try:
    import numpy as np
except ImportError:
    sys.exit("numpy is needed, and could not be installed")


def optional(name):
    try:
        return __import__(name)
    except Exception as e:  # an import may fail in many ways: none stops the others
        print(f"skipped: {name}: {str(e).splitlines()[0] if str(e) else type(e).__name__}", file=sys.stderr)
        return None


sys.path.insert(0, str(Path(options.attune).resolve().parent / "python"))
attune_package = optional("attune")  # else its program, in a process of its own for each call
small_gicp, open3d, pycpd = optional("small_gicp"), optional("open3d"), optional("pycpd")
probreg = optional("probreg")


# ---- data ----
def read_points(path):
    if str(path).endswith(".ply"):
        return read_ply(path)
    if str(path).endswith(".npy"):
        return np.load(path)[:, :3].astype(float)
    return np.loadtxt(path, usecols=(0, 1, 2), delimiter="," if str(path).endswith(".csv") else None)


def read_ply(path):
    kinds = {"float": "f4", "float32": "f4", "double": "f8", "float64": "f8", "uchar": "u1", "uint8": "u1",
             "char": "i1", "int8": "i1", "short": "i2", "int16": "i2", "ushort": "u2", "uint16": "u2", "int": "i4",
             "int32": "i4", "uint": "u4", "uint32": "u4"}
    with open(path, "rb") as f:
        form, count, names, inside = None, 0, [], False
        for line in iter(f.readline, b""):
            word = line.decode("latin-1").split()
            if word[:1] == ["format"]:
                form = word[1]
            elif word[:1] == ["element"]:
                inside = word[1] == "vertex"
                count = int(word[2]) if inside else count
            elif word[:1] == ["property"] and inside:
                names.append((word[2], kinds[word[1]]))
            elif word[:1] == ["end_header"]:
                break
        if form == "ascii":
            rows = [f.readline().split() for _ in range(count)]
            at = [[n for n, _ in names].index(axis) for axis in "xyz"]
            return np.array([[float(r[k]) for k in at] for r in rows])
        order = "<" if form == "binary_little_endian" else ">"
        data = np.frombuffer(f.read(), dtype=[(n, order + k) for n, k in names], count=count)
        return np.stack([data[axis].astype(float) for axis in "xyz"], axis=1)


def read_truth(path):
    text = Path(path).read_text()
    if text.lstrip()[:1] in "{[":
        value = json.loads(text)
        value = value["transform"] if isinstance(value, dict) else value
        return np.array(value, dtype=float).reshape(4, 4)
    return np.array(text.replace(",", " ").split(), dtype=float).reshape(4, 4)


# ---- ours ----
def attune(init, method=None):
    """In this process, as the others, where there is the package."""
    def run(source, target, files):
        if attune_package:
            return attune_package.register(source, target, init=init, method=method, device="host").transform
        more = ["--init", init] + (["--method", method] if method else [])
        line = [options.attune, "register", *files, "--device", "host", "--json", *more]
        done = subprocess.run(line, capture_output=True, text=True, env=os.environ)
        if not done.stdout:
            raise RuntimeError(done.stderr.strip())
        result = json.loads(done.stdout)
        return np.array(result["transform"]), result["seconds"]
    return run


# ---- theirs: each returns T, and is timed as a whole ----
def extent(points):
    return float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))


def gicp(kind, share):
    """share: of the target's extent, the edge of the cubes that points are merged in; 0: all points."""
    def run(source, target, _files):
        n = options.threads
        if share:
            t, tree = small_gicp.preprocess_points(target, downsampling_resolution=share * extent(target), num_threads=n)
            s, _ = small_gicp.preprocess_points(source, downsampling_resolution=share * extent(target), num_threads=n)
        else:
            t, s = small_gicp.PointCloud(target), small_gicp.PointCloud(source)
            tree = small_gicp.KdTree(t, num_threads=n)
            if kind == "GICP":
                small_gicp.estimate_covariances(t, tree, num_threads=n)
                small_gicp.estimate_covariances(s, num_threads=n)
        return small_gicp.align(t, s, tree, registration_type=kind, num_threads=n).T_target_source
    return run


def o3d(points):
    cloud = open3d.geometry.PointCloud()
    cloud.points = open3d.utility.Vector3dVector(points)
    return cloud


def spacing(points):
    """A usual distance between neighbours: 0.5 % of the extent does for scans of some thousand points and more."""
    return 0.005 * extent(points)


def o3d_icp(plane):
    def run(source, target, _files):
        r = open3d.pipelines.registration
        s, t = o3d(source), o3d(target)
        if plane:
            t.estimate_normals(open3d.geometry.KDTreeSearchParamKNN(20))
        how = r.TransformationEstimationPointToPlane() if plane else r.TransformationEstimationPointToPoint()
        far = 0.05 * extent(target)
        criteria = r.ICPConvergenceCriteria(max_iteration=200)
        return r.registration_icp(s, t, far, np.eye(4), how, criteria).transformation
    return run


def o3d_global(source, target, _files):
    r, edge = open3d.pipelines.registration, 2 * spacing(target)
    def features(points):
        cloud = o3d(points).voxel_down_sample(edge)
        cloud.estimate_normals(open3d.geometry.KDTreeSearchParamHybrid(radius=2 * edge, max_nn=30))
        search = open3d.geometry.KDTreeSearchParamHybrid(radius=5 * edge, max_nn=100)
        return cloud, r.compute_fpfh_feature(cloud, search)
    (s, fs), (t, ft) = features(source), features(target)
    option = r.FastGlobalRegistrationOption(maximum_correspondence_distance=0.5 * edge)
    start = r.registration_fgr_based_on_feature_matching(s, t, fs, ft, option).transformation
    fine = o3d(target)
    fine.estimate_normals(open3d.geometry.KDTreeSearchParamKNN(20))
    return r.registration_icp(o3d(source), fine, 2 * edge, start, r.TransformationEstimationPointToPlane(),
                              r.ICPConvergenceCriteria(max_iteration=100)).transformation


def pycpd_rigid(source, target, _files):
    _, (scale, rotation, shift) = pycpd.RigidRegistration(X=target, Y=source, scale=False).register()
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = scale * rotation.T, shift
    return out


def probreg_filterreg(source, target, _files):
    from probreg import filterreg
    p = filterreg.registration_filterreg(o3d(source), o3d(target), sigma2=None, update_sigma2=True).transformation
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = p.scale * p.rot, p.t
    return out


def contestants(pairs):
    """(name, start, run); what holds all pairs in memory only where they fit."""
    rows = [("attune em-icp", "identity", attune("identity")), ("attune em-icp", "search", attune("auto")),
            ("attune icp-plane", "identity", attune("identity", "icp-plane"))]
    if small_gicp:
        for kind in ("GICP", "ICP"):
            rows.append((f"small_gicp {kind}", "identity", gicp(kind, 0)))
            rows.append((f"small_gicp {kind}, 0.25 % voxels", "identity", gicp(kind, 0.0025)))
    if open3d:
        rows += [("Open3D ICP", "identity", o3d_icp(False)), ("Open3D ICP, plane", "identity", o3d_icp(True)),
                 ("Open3D FPFH, fast global, ICP", "search", o3d_global)]
    if pycpd and pairs <= options.most_pairs:
        rows.append(("pycpd rigid", "identity", pycpd_rigid))
    elif pycpd:
        print(f"skipped: pycpd: it stores {pairs:.2g} pairs (--most-pairs)", file=sys.stderr)
    if probreg and open3d:
        rows.append(("probreg FilterReg", "identity", probreg_filterreg))
    return rows


# ---- measuring ----
SETTLE = 0.05  # seconds: threads of an OpenMP library go on polling for some 15 ms after their last work


def apart(t, truth):
    difference = np.linalg.norm(t[:3, :3] - truth[:3, :3])
    turn = math.degrees(2 * math.asin(min(1.0, difference / math.sqrt(8))))
    return turn, float(np.linalg.norm(t[:3, 3] - truth[:3, 3]))


def tell(text):
    if sys.stderr.isatty():
        print(f"{text:78}", end="\r", file=sys.stderr)


def measure(rows, source, target, files):
    """Everybody in turn, round by round; the first round warms up and is not counted unless it is the only one."""
    times, found, failed = {}, {}, {}
    for turn in range(options.repeats + 1):
        for name, start, run in rows:
            key = (name, start)
            if key in failed or (turn > 0 and times[key][0] > options.limit):
                continue
            time.sleep(SETTLE)
            since = time.perf_counter()
            try:
                result = run(source, target, files)
            except Exception as e:
                failed[key] = str(e).splitlines()[0] if str(e) else type(e).__name__
                print(f"skipped: {name}: {failed[key]}", file=sys.stderr)
                continue
            seconds = time.perf_counter() - since
            if isinstance(result, tuple):
                result, seconds = result
            times.setdefault(key, []).append(seconds)
            found[key] = np.asarray(result)
            tell(f"round {turn}: {name}, {start}: {seconds:.3f} s")
    tell("")
    return {k: (t[1:] or t, found[k]) for k, t in times.items()}


def main():
    place = Path(options.place)
    place.mkdir(parents=True, exist_ok=True)
    files, truth_file = options.files, options.truth
    if not files:
        subprocess.run([options.attune, "sample", "scans", "-o", str(place / "scans"), "--size", str(options.size),
                        "--turn", options.turn], check=True, stdout=subprocess.DEVNULL)
        files = [str(place / "scans" / "source.ply"), str(place / "scans" / "target.ply")]
        truth_file = truth_file or str(place / "scans" / "truth.json")
    source, target = read_points(files[0]), read_points(files[1])
    truth = read_truth(truth_file) if truth_file else None
    done = measure(contestants(len(source) * len(target)), source, target, files)
    rows = []
    for (name, start), (times, t) in done.items():
        turn, shift = apart(t, truth) if truth is not None else (None, None)
        rows.append({"name": name, "start": start, "seconds": statistics.median(times), "least": min(times),
                     "runs": len(times), "rotation_deg": turn, "translation": shift})
    if options.json:
        print(json.dumps({"source": files[0], "target": files[1], "points": [len(source), len(target)],
                          "threads": options.threads, "rows": rows}, indent=2))
        return
    print(f"{files[0]} ({len(source)} points) onto {files[1]} ({len(target)}), {options.threads} threads")
    print(f"{'program':34} {'start':9} {'median s':>9} {'least s':>9} {'runs':>5} {'turn off, deg':>14} {'shift off':>11}")
    for r in rows:
        off = ["-" if v is None else f"{v:.4g}" for v in (r["rotation_deg"], r["translation"])]
        print(f"{r['name']:34} {r['start']:9} {r['seconds']:9.3f} {r['least']:9.3f} {r['runs']:5} {off[0]:>14} {off[1]:>11}")


main()
